// dK and dV of scores that a function doubles and adds a bias of each head to, under a mask function.
func.func @bwd_dk_dv_bias_d128(%q: tensor<?x?x?x128xbf16>, %k: tensor<?x?x?x128xbf16>, %v: tensor<?x?x?x128xbf16>,
    %do: tensor<?x?x?x128xbf16>, %lse2: tensor<?x?x?xf32>, %delta: tensor<?x?x?xf32>, %scale: f32,
    %slopes: tensor<?xf32> {attn.name = "slopes"}) -> (tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>) {
  %dk, %dv = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta scale(%scale) mask(none) layout(bshd) gradients(dk_dv)
      captures(%slopes : tensor<?xf32>)
      score_region {
      ^bb0(%x: f32, %b: i32, %h: i32, %i: i32, %j: i32, %of: tensor<?xf32>):
        %at = arith.index_cast %h : i32 to index
        %slope = tensor.extract %of[%at] : tensor<?xf32>
        %distance = arith.subi %j, %i : i32
        %far = arith.sitofp %distance : i32 to f32
        %bias = arith.mulf %slope, %far : f32
        %twice = arith.addf %x, %x : f32
        %z = arith.addf %twice, %bias : f32
        %g = arith.constant 2.0 : f32
        attn.yield %z, %g : f32, f32
      }
      mask_region {
      ^bb0(%b: i32, %h: i32, %i: i32, %j: i32, %of: tensor<?xf32>):
        %c3 = arith.constant 3 : i32
        %sum = arith.addi %i, %j : i32
        %rest = arith.remsi %sum, %c3 : i32
        %c0 = arith.constant 0 : i32
        %seen = arith.cmpi ne, %rest, %c0 : i32
        attn.yield %seen : i1
      }
      : (tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>)
  return %dk, %dv : tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>
}
