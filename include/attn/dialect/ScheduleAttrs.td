// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// #attn.problem, #attn.config and #attn.schedule. The parts of a schedule are
// attributes of their own that only #attn.schedule prints.
#ifndef ATTN_DIALECT_SCHEDULEATTRS_TD
#define ATTN_DIALECT_SCHEDULEATTRS_TD

include "attn/dialect/AttnEnums.td"
include "attn/dialect/MachineAttr.td"
include "attn/dialect/ValuesAttr.td"

class Attn_Attr<string name, string attrMnemonic> : AttrDef<Attn_Dialect, name> {
  let mnemonic = attrMnemonic;
}
// A part of a schedule: never printed alone.
class Attn_PartAttr<string name> : AttrDef<Attn_Dialect, name> {
  let attrName = "attn.part." # name;
}

def Attn_ProblemAttr : Attn_Attr<"Problem", "problem"> {
  let summary = "what a kernel computes: the compile-time part of the problem";
  let parameters = (ins EnumParameter<Attn_KernelKind>:$kind, "::mlir::Type":$dtype,
    "int64_t":$head_dim, "int64_t":$head_dim_v, EnumParameter<Attn_LayoutKind>:$layout,
    EnumParameter<Attn_MaskKind>:$mask, EnumParameter<Attn_RegionKind>:$score_region,
    EnumParameter<Attn_RegionKind>:$mask_region,
    DefaultValuedParameter<"::attn::MaskBounds", "::attn::MaskBounds::None">:$bounds,
    DefaultValuedParameter<"::attn::RowKeys", "::attn::RowKeys::None">:$row_keys,
    DefaultValuedParameter<"bool", "false">:$dropout);
  let assemblyFormat = "`<` struct(params) `>`";
}

/// The members of an attribute whose parameters are knobs. A config prints them
/// as a `struct`; C++ code parses and prints statements.
class Attn_KnobMembers<string cppClass, list<Attn_Knob> knobs> {
  dag parameters = !dag(ins, !foreach(k, knobs, !if(!or(!empty(k.absent), !eq(k.home, "Statement")),
      !cast<AttrOrTypeParameter>(AttrParameter<k.allowed.cppType, k.meaning>),
      !cast<AttrOrTypeParameter>(DefaultValuedParameter<k.allowed.cppType, !if(!empty(k.allowed.enumName), k.absent,
          k.allowed.cppType # "::" # Attn_Camel<k.absent>.text), k.meaning>))), !foreach(k, knobs, k.name));
  code declaration = [{
    /// Its knobs, and what they are set to.
    static ::llvm::ArrayRef<::attn::Knob> getKnobs();
    ::llvm::SmallVector<::attn::KnobValue> getValues() const;
    static }] # cppClass # [{ fromValues(::mlir::MLIRContext *context, ::llvm::ArrayRef<::attn::KnobValue> values);
  }];
  code definition = [{
    ::llvm::ArrayRef<::attn::Knob> $cppClass::getKnobs() {
      static constexpr ::attn::Knob knobs[] = { }] # !interleave(!foreach(k, knobs, "::attn::Knob::" # k.symbol), ", ") # [{ };
      return knobs;
    }
    ::llvm::SmallVector<::attn::KnobValue> $cppClass::getValues() const {
      return { }] # !interleave(!foreach(k, knobs, "get" # k.symbol # "()"), ", ") # [{ };
    }
    $cppClass $cppClass::fromValues(::mlir::MLIRContext *context, ::llvm::ArrayRef<::attn::KnobValue> values) {
      return get(context, }] # !interleave(!foreach(i, !range(!size(knobs)),
          "values[" # i # "].as<" # knobs[i].allowed.cppType # ">()"), ", ") # [{);
    }
    ::llvm::LogicalResult $cppClass::verify(::llvm::function_ref<::mlir::InFlightDiagnostic()> emitError, }] #
        !interleave(!foreach(k, knobs, k.allowed.cppType # " " # k.name), ", ") # [{) {
      return ::attn::verifyKnobs(emitError, getKnobs(), { }] # !interleave(!foreach(k, knobs, k.name), ", ") # [{ });
    }
  }];
}
defvar Attn_ConfigMembers = Attn_KnobMembers<"ConfigAttr", Attn_Fields>;
defvar Attn_StatementMembers = Attn_KnobMembers<"StatementsAttr", Attn_Statements>;

def Attn_ConfigAttr : Attn_Attr<"Config", "config"> {
  let summary = "the shape of one CTA's work";
  let description = !strconcat([{
    Its fields are [knobs](../knobs.md). Here are their constraints.
}], Attn_FieldLines);
  let parameters = Attn_ConfigMembers.parameters;
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = Attn_ConfigMembers.declaration;
  let extraClassDefinition = Attn_ConfigMembers.definition;
}
def Attn_StatementsAttr : Attn_PartAttr<"Statements"> {
  let summary = "the values of the statements `knob`";
  let parameters = Attn_StatementMembers.parameters;
  let genVerifyDecl = 1;
  let extraClassDeclaration = Attn_StatementMembers.declaration;
  let extraClassDefinition = Attn_StatementMembers.definition;
}

def Attn_SplitAttr : Attn_PartAttr<"Split"> {
  let summary = "sub-tiles: values whose type has `axis` are cut in `count`";
  // also: a value that lacks the axis, and the axis it is cut along instead
  let parameters = (ins "::mlir::StringAttr":$axis, "int64_t":$count,
    OptionalArrayRefParameter<"::mlir::StringAttr">:$whole,
    OptionalArrayRefParameter<"::mlir::StringAttr">:$alsoValues,
    OptionalArrayRefParameter<"::mlir::StringAttr">:$alsoAxes);
}
def Attn_RoleAttr : Attn_PartAttr<"Role"> {
  let summary = "a role: `replicas` (0: not replicated) x `warps` warps with `regs` registers a thread";
  let parameters = (ins "::mlir::StringAttr":$name, "int64_t":$replicas, "int64_t":$warps,
    "int64_t":$regs, "bool":$onLeader);
}
def Attn_PlaceAttr : Attn_PartAttr<"Place"> {
  let summary = "storage for values: a channel (with barriers) or a hold (without)";
  // cycles: alternatives that take slots in turn; the values of one cycle share a slot and a barrier.
  // parts: numerators and denominators, flattened. over: host places, none where the place has storage
  // of its own; overCross: of the other sub-tile.
  let parameters = (ins "::mlir::StringAttr":$name, "bool":$channel,
    ArrayRefParameter<"::mlir::ArrayAttr">:$cycles, "::attn::Space":$space, "int64_t":$depth,
    OptionalArrayRefParameter<"int64_t">:$parts, OptionalArrayRefParameter<"::mlir::StringAttr">:$over, "bool":$overCross,
    OptionalArrayRefParameter<"::mlir::StringAttr">:$only, "bool":$fullImplied, "bool":$freeImplied,
    "::attn::Granularity":$granularity, "::attn::Scope":$scope);
}
def Attn_EdgeAttr : Attn_PartAttr<"Edge"> {
  let summary = "order without data: the first `credits` waits pass; joinsPlace: null, or the channel it arrives on";
  let parameters = (ins "::mlir::StringAttr":$name, "bool":$split, "::mlir::StringAttr":$joinsPlace,
    "int64_t":$joinsPart, "int64_t":$credits, "::attn::Scope":$scope);
}
def Attn_TurnAttr : Attn_PartAttr<"Turn"> {
  let summary = "a ring of edges between the replicas of `ring`, primed at replica 0";
  let parameters = (ins "::mlir::StringAttr":$name, "::mlir::StringAttr":$ring, "bool":$unprimed);
}
def Attn_SyncAttr : Attn_PartAttr<"Sync"> {
  let summary = "a rendezvous of all replicas of `ring`";
  let parameters = (ins "::mlir::StringAttr":$name, "::mlir::StringAttr":$ring);
}
def Attn_EntryAttr : Attn_PartAttr<"Entry"> {
  let summary = "one entry of a body; subtile and part are -1 where not given";
  let parameters = (ins "::attn::Guard":$guard, "::attn::Act":$act, "::mlir::StringAttr":$target,
    "int64_t":$subtile, "int64_t":$part, "int64_t":$shift);
}
def Attn_BodyAttr : Attn_PartAttr<"Body"> {
  let summary = "the entries of one role (replica -1: of all its replicas), in issue order";
  let parameters = (ins "::mlir::StringAttr":$role, "int64_t":$replica,
    OptionalArrayRefParameter<"::attn::EntryAttr">:$before,
    OptionalArrayRefParameter<"::attn::EntryAttr">:$kv,
    OptionalArrayRefParameter<"::attn::EntryAttr">:$after);
}
def Attn_ScheduleAttr : Attn_Attr<"Schedule", "schedule"> {
  let summary = "who does which step, in what order, how deep: one mapping as data";
  let description = !strconcat([{
    ```
    schedule := `<` name `machine` name `{` item* `}` `>`
    item   := `split` axis n [`whole` `(` value,.. `)`] [`also` `(` value `:` axis,.. `)`]
            | `remat` `(` step,.. `)`
            | `role` name [`[` n `]`] `warps` n `regs` n [`on` `leader`]
            | `chan` name `=` cycle (`|` cycle)* `in` space option*   // cycle := value (`+` value)*
            | `hold` name `=` value `in` space option*
            | `turn` name `ring` role [`unprimed`]
            | `sync` name `ring` role
            | `edge` name [`split`] [`joins` chan `:` part] [`credits` n] [`scope` scope]
}], Attn_StatementRules, [{            | `body` role [`[` n `]`] `{` [`before` list] [`kv` list] [`after` list] `}`
    option := in this order: `depth` n, `parts` `(` n `of` n,.. `)`, `over` host,
              `for` `(` step,.. `)`, `full_implied`, `free_implied`, `gran` granularity, `scope` scope
    host   := place [`[` `cross` `]`] | place (`+` place)*
    list   := `{` entry* `}`
    entry  := [guard `:`] (step [`[` n `]`] [`:` part] | act `(` name [`[` n `]`] `)`) [`+` shift]
    ```
    Into a channel of `scope cluster`, each CTA of the cluster loads its share of every tile for
    all CTAs; a slot is free when all of them have released it. An edge of that scope is signalled
    by every CTA to every CTA.
    `x[n]` is a sub-tile of x, `: n` a part, `+ n` a shift by n iterations (in `before` and
    `after`: work items). `over x[cross]` shares the memory of the other sub-tile of x, `over x + y`
    the registers of both. `read(v)` in `kv` reads a row vector from its channel into registers, ahead of the steps that
    use it. A name is quoted if it is the word of a guard or not an identifier. The statements `knob` set:
}], Attn_StatementLines, [{
    **Constraints** (what fits a kernel and a machine is judged by `attn-verify-schedule`)
    - C1: the names of roles, of places, of edges and turns, and of rendezvous are different
    - C2: one body for each role and replica
    - C3: denominators are at least 1, shares are at most 1, a split has at least 1 sub-tile
    - C4: replicas, sub-tiles, depths, parts, credits and shifts are at most 64
    - C5: `skip right` and `skip both` need a split of at least 2 sub-tiles
  }]);
  let parameters = (ins "::mlir::StringAttr":$name, "::mlir::StringAttr":$machine,
    "::attn::SplitAttr":$split, // null: not cut
    OptionalArrayRefParameter<"::mlir::StringAttr">:$remat,
    ArrayRefParameter<"::attn::RoleAttr">:$roles,
    OptionalArrayRefParameter<"::attn::PlaceAttr">:$places,
    OptionalArrayRefParameter<"::attn::EdgeAttr">:$edges,
    OptionalArrayRefParameter<"::attn::TurnAttr">:$turns,
    OptionalArrayRefParameter<"::attn::SyncAttr">:$syncs,
    "::attn::StatementsAttr":$statements,
    OptionalArrayRefParameter<"::attn::BodyAttr">:$bodies);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Number of sub-tiles: 1 where nothing is cut.
    int64_t getSubtiles() const { return getSplit() ? getSplit().getCount() : 1; }
}] # !interleave(!foreach(k, Attn_Statements, "    " # k.values.cppType # " get" # k.symbol #
      "() const { return getStatements().get" # k.symbol # "(); }\n"), "") # [{
    /// The same schedule for another machine.
    ::attn::ScheduleAttr forMachine(::llvm::StringRef machine) const;
    ::attn::RoleAttr findRole(::llvm::StringRef name) const;
    ::attn::PlaceAttr findPlace(::llvm::StringRef name) const;
    /// The body of a replica, or the role's common one; null if there is none.
    ::attn::BodyAttr findBody(::llvm::StringRef role, int64_t replica = -1) const;
  }];
}

#endif // ATTN_DIALECT_SCHEDULEATTRS_TD
