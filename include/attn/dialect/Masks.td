// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The built-in masks, and the bounds that launches give them. Everything that
// lists masks is generated from these records: the enums, the op's text and its
// verifier, the keys that a kernel reads, their description in launch plans,
// the Python package and the documentation.
//
// A query sees the keys from a first to a last one. Both are expressions of
// launch plans: a number, a word, or in parentheses an operator and its
// operands. The words are `diagonal`, the key on the query's diagonal;
// `seqlen_q` and `seqlen_k`; and the name of the bound. The expressions must
// not decrease when the diagonal grows.
#ifndef ATTN_DIALECT_MASKS_TD
#define ATTN_DIALECT_MASKS_TD

include "attn/dialect/Tables.td"

// Conversely, the queries that see a key are those with a diagonal from a first
// to a last one. These are expressions with the word `key`, which is not
// negative, in place of `diagonal`.
/// A bound: an i32 argument of a launch, at least `least`, that a mask needs or
/// may have. It defines `first` and `lastDiagonal`, or `last` and
/// `firstDiagonal`. Apart from `diagonal`, `last` does not depend on the query.
class Attn_Bound<int bitNumber, string cppName, string boundName, int atLeast,
                 string text> {
  bits<32> number = bitNumber;
  string symbol = cppName;
  string name = boundName;
  bits<32> least = atLeast;
  string meaning = text;
  string first = "";
  string last = "";
  string firstDiagonal = "";
  string lastDiagonal = "";
}

// A bound beyond all positions has no effect. `min` keeps its sum with a
// position from overflowing.
def Attn_WindowLeft
    : Attn_Bound<0, "WindowLeft", "window_left", 0,
                 "keys before the diagonal that a query sees"> {
  let first = "(sub diagonal (min window_left (max seqlen_q seqlen_k)))";
  let lastDiagonal = "(add key (min window_left (max seqlen_q seqlen_k)))";
}
def Attn_WindowRight
    : Attn_Bound<1, "WindowRight", "window_right", 0,
                 "keys after the diagonal that a query sees"> {
  let firstDiagonal = "(sub key (min window_right (max seqlen_q seqlen_k)))";
  let last = "(add diagonal (min window_right (max seqlen_q seqlen_k)))";
}
def Attn_Chunk : Attn_Bound<2, "Chunk", "chunk", 1, "positions of a chunk"> {
  defvar size = "(max (min chunk (max seqlen_q seqlen_k)) 1)";
  let first = !strconcat("(mul (div (max diagonal 0) ", size, ") ", size, ")");
  let lastDiagonal = !strconcat("(sub (mul (add (div key ", size, ") 1) ", size, ") 1)");
}

/// A mask. Its diagonal begins at the first query and key or ends at the last.
class Attn_Mask<int value, string cppName, string maskName, bit fromLast,
                string text> {
  bits<32> number = value;
  string symbol = cppName;
  string name = maskName;
  bit bottomRight = fromLast;
  string meaning = text;
  // Whether the last key lies on the diagonal. If not, a bound gives it, if there is one.
  bit causal = 0;
  // The bounds that a launch must give, those that it may give, and whether it
  // must give at least one of the latter.
  list<Attn_Bound> needs = [];
  list<Attn_Bound> takes = [];
  bit needsAny = 0;
  // The word by which entries of the schedule table say that they serve the
  // mask. For a mask with bounds they must serve `window` too.
  string served = maskName;
  string needed = !interleave(!foreach(b, needs, b.name), " ");
  string taken = !interleave(!foreach(b, takes, b.name), " ");
}

class Attn_AlignedMask<int value, string cppName, string maskName, bit fromLast,
                       string text>
    : Attn_Mask<value, cppName # !if(fromLast, "BottomRight", "TopLeft"),
                maskName # !if(fromLast, "_bottom_right", "_top_left"), fromLast,
                text>;

def Attn_NoMask : Attn_Mask<0, "None", "none", 0, "every key">;

class Attn_Causal<int value, bit fromLast>
    : Attn_AlignedMask<value, "Causal", "causal", fromLast,
                       "no key after the diagonal"> {
  let causal = 1;
  let takes = [Attn_WindowLeft];
}
def Attn_CausalTopLeft : Attn_Causal<1, 0>;
def Attn_CausalBottomRight : Attn_Causal<2, 1>;

class Attn_Window<int value, bit fromLast>
    : Attn_AlignedMask<value, "Window", "window", fromLast,
                       "no key outside its bounds"> {
  let takes = [Attn_WindowLeft, Attn_WindowRight];
  let needsAny = 1;
  let served = "";
}
def Attn_WindowTopLeft : Attn_Window<3, 0>;
def Attn_WindowBottomRight : Attn_Window<4, 1>;

class Attn_Chunked<int value, bit fromLast>
    : Attn_AlignedMask<value, "Chunked", "chunked", fromLast,
                       "no key after the diagonal, nor one of an earlier chunk: "
                       "positions of keys are cut into chunks from key 0"> {
  let causal = 1;
  let needs = [Attn_Chunk];
  let served = !if(fromLast, "causal_bottom_right", "causal_top_left");
}
def Attn_ChunkedTopLeft : Attn_Chunked<5, 0>;
def Attn_ChunkedBottomRight : Attn_Chunked<6, 1>;

// Rows of tables for people.
defvar Attn_MaskRows = !interleave(!foreach(m, !instances<Attn_Mask>(), !strconcat(
    "    | `", m.name, "` | ", m.meaning, " | ", !interleave(!listconcat(
        !foreach(b, m.needs, !strconcat("`", b.name, "`")),
        !foreach(b, m.takes, !strconcat("`", b.name, "`", !if(m.needsAny, "", " if given")))), ", "), " |\n")), "");
defvar Attn_BoundRows = !interleave(!foreach(b, !instances<Attn_Bound>(), !strconcat(
    "    | `", b.name, "` | ", !repr(!cast<int>(b.least)), " | ", b.meaning, " |\n")), "");

// In the order of their numbers (dialect/lib/Masks.cpp).
def MaskBoundTable : GenericTable {
  let FilterClass = "Attn_Bound";
  let CppTypeName = "MaskBound";
  let Fields = ["number", "name", "least", "first", "last", "firstDiagonal", "lastDiagonal"];
  let PrimaryKey = ["number"];
  let PrimaryKeyName = "lookUpMaskBound";
}
def BuiltInMaskTable : GenericTable {
  let FilterClass = "Attn_Mask";
  let CppTypeName = "BuiltInMask";
  let Fields = ["number", "name", "bottomRight", "causal", "needed", "taken", "needsAny", "served"];
  let PrimaryKey = ["number"];
  let PrimaryKeyName = "lookUpBuiltInMask";
}

#endif // ATTN_DIALECT_MASKS_TD
