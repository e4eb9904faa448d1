// Captures with the names of another argument, a size, a bound of the mask, and one that is no word.
!t = tensor<?x?x?x64xbf16>
!l = tensor<?x?x?xf32>
func.func @names(%query: !t, %k: !t, %v: !t, %scale: f32, %left: i32, %slopes: tensor<?xf32> {attn.name = "q"},
                 %ahead: i32 {attn.name = "sq"}, %every: i32 {attn.name = "window_left"},
                 %add: f32 {attn.name = "a.b={c}"}) -> (!t, !l) {
  %o, %lse = attn.attention %query, %k, %v scale(%scale) mask(window_top_left) layout(bshd) window_left(%left)
      captures(%slopes, %ahead, %every, %add : tensor<?xf32>, i32, i32, f32)
      score_region {
      ^bb0(%s: f32, %b: i32, %h: i32, %i: i32, %j: i32, %table: tensor<?xf32>, %x: i32, %y: i32, %z: f32):
        %head = arith.index_cast %h : i32 to index
        %slope = tensor.extract %table[%head] : tensor<?xf32>
        %n = arith.sitofp %j : i32 to f32
        %bias = arith.mulf %slope, %n : f32
        %moved = arith.addf %bias, %z : f32
        %r = arith.addf %s, %moved : f32
        attn.yield %r : f32
      }
      mask_region {
      ^bb0(%b: i32, %h: i32, %i: i32, %j: i32, %table: tensor<?xf32>, %x: i32, %y: i32, %z: f32):
        %last = arith.addi %i, %x : i32
        %near = arith.cmpi sle, %j, %last : i32
        %rest = arith.remsi %j, %y : i32
        %zero = arith.constant 0 : i32
        %kept = arith.cmpi eq, %rest, %zero : i32
        %r = arith.andi %near, %kept : i1
        attn.yield %r : i1
      } : (!t, !t, !t) -> (!t, !l)
  return %o, %lse : !t, !l
}
