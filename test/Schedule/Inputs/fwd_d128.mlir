// A forward kernel, bf16, head dims 128, causal, as attn-fuse-online-softmax leaves it.
// Its loop bounds are simplified: no schedule depends on them.
#bshd = affine_map<(b, h, i, c) -> (b, i, h, c)>
module {
  tile.kernel @causal args ["q", "k", "v", "scale", "o" write, "lse" write]
      problem <kind = fwd, dtype = bf16, head_dim = 128, head_dim_v = 128, layout = bshd, mask = causal_bottom_right, score_region = absent, mask_region = absent>
      config <tile_m = 128, tile_n = 128, work = grid, order = longest_first, rescale_threshold = 8> {
  ^bb0(%Q: tensor<?x?x?x128xbf16>, %K: tensor<?x?x?x128xbf16>, %V: tensor<?x?x?x128xbf16>, %scale: f32, %O: tensor<?x?x?x128xbf16>, %LSE: tensor<?x?x?xf32>):
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %d0 = tensor.dim %Q, %c0 : tensor<?x?x?x128xbf16>
    %batches = arith.index_cast %d0 : index to i32
    %d1 = tensor.dim %Q, %c1 : tensor<?x?x?x128xbf16>
    %sq = arith.index_cast %d1 : index to i32
    %d2 = tensor.dim %Q, %c2 : tensor<?x?x?x128xbf16>
    %hq = arith.index_cast %d2 : index to i32
    %d3 = tensor.dim %K, %c1 : tensor<?x?x?x128xbf16>
    %sk = arith.index_cast %d3 : index to i32
    %d4 = tensor.dim %K, %c2 : tensor<?x?x?x128xbf16>
    %hk = arith.index_cast %d4 : index to i32
    %group = arith.divsi %hq, %hk : i32
    %tm = arith.constant 128 : i32
    %tn = arith.constant 128 : i32
    %log2e = arith.constant 1.44269502 : f32
    %c = arith.mulf %scale, %log2e : f32
    %mblocks = arith.ceildivsi %sq, %tm : i32
    tile.work {
      %w = tile.step @next () : () -> !tile.work {
        %x = tile.next_work extents(%mblocks, %hq, %batches)
        tile.yield %x : !tile.work
      }
      %q = tile.step @ld_q (%w) : (!tile.work) -> tensor<128x128xbf16> {
      ^bb0(%w0: !tile.work):
        %blk, %h, %b = tile.work_coords %w0
        %row = arith.muli %blk, %tm : i32
        %x = tile.load %Q at(%b, %h, %row) #bshd : tensor<?x?x?x128xbf16> -> tensor<128x128xbf16>
        tile.yield %x : tensor<128x128xbf16>
      }
      %hi, %mid, %lo = tile.bounds %w : i32, i32, i32 {
      ^bb0(%w0: !tile.work):
        %blk, %h, %b = tile.work_coords %w0
        tile.yield %tn, %tn, %tn : i32, i32, i32
      }
      %m0 = arith.constant dense<-3.40282347E+38> : tensor<128xf32>
      %l0 = arith.constant dense<0.0> : tensor<128xf32>
      %o0 = arith.constant dense<0.0> : tensor<128x128xf32>
      %mf, %lf, %of = tile.for ranges <down [masked, full]> bounds(%hi, %mid, %lo) init(%m0, %l0, %o0)
          : (tensor<128xf32>, tensor<128xf32>, tensor<128x128xf32>) -> (tensor<128xf32>, tensor<128xf32>, tensor<128x128xf32>) {
      ^bb0(%j: i32, %m: tensor<128xf32>, %l: tensor<128xf32>, %o: tensor<128x128xf32>):
        %k = tile.step @ld_k (%w) : (!tile.work) -> tensor<128x128xbf16> {
        ^bb0(%w0: !tile.work):
          %blk, %h, %b = tile.work_coords %w0
          %hkv = arith.divsi %h, %group : i32
          %row = arith.muli %j, %tn : i32
          %x = tile.load %K at(%b, %hkv, %row) #bshd : tensor<?x?x?x128xbf16> -> tensor<128x128xbf16>
          tile.yield %x : tensor<128x128xbf16>
        }
        %v = tile.step @ld_v (%w) : (!tile.work) -> tensor<128x128xbf16> {
        ^bb0(%w0: !tile.work):
          %blk, %h, %b = tile.work_coords %w0
          %hkv = arith.divsi %h, %group : i32
          %row = arith.muli %j, %tn : i32
          %x = tile.load %V at(%b, %hkv, %row) #bshd : tensor<?x?x?x128xbf16> -> tensor<128x128xbf16>
          tile.yield %x : tensor<128x128xbf16>
        }
        %s = tile.step @qk (%q, %k) : (tensor<128x128xbf16>, tensor<128x128xbf16>) -> tensor<128x128xf32> {
        ^bb0(%a: tensor<128x128xbf16>, %bt: tensor<128x128xbf16>):
          %x = tile.mma %a, %bt transpose_b : tensor<128x128xbf16>, tensor<128x128xbf16> -> tensor<128x128xf32>
          tile.yield %x : tensor<128x128xf32>
        }
        %s1 = tile.step @score (%s, %w) : (tensor<128x128xf32>, !tile.work) -> tensor<128x128xf32> {
        ^bb0(%x: tensor<128x128xf32>, %w0: !tile.work):
          tile.yield %x : tensor<128x128xf32>
        }
        %s2 = tile.step @mask masked (%s1, %w) : (tensor<128x128xf32>, !tile.work) -> tensor<128x128xf32> {
        ^bb0(%x: tensor<128x128xf32>, %w0: !tile.work):
          %blk, %h, %b = tile.work_coords %w0
          %row = arith.muli %blk, %tm : i32
          %col = arith.muli %j, %tn : i32
          %qi = tile.coords %row dim 0 : tensor<128x128xi32>
          %kj = tile.coords %col dim 1 : tensor<128x128xi32>
          %off = arith.subi %sk, %sq : i32
          %offs = tensor.splat %off : tensor<128x128xi32>
          %sks = tensor.splat %sk : tensor<128x128xi32>
          %lim = arith.addi %qi, %offs : tensor<128x128xi32>
          %ok0 = arith.cmpi sle, %kj, %lim : tensor<128x128xi32>
          %ok1 = arith.cmpi slt, %kj, %sks : tensor<128x128xi32>
          %ok = arith.andi %ok0, %ok1 : tensor<128x128xi1>
          %ninf = arith.constant dense<0xFF800000> : tensor<128x128xf32>
          %r = arith.select %ok, %x, %ninf : tensor<128x128xi1>, tensor<128x128xf32>
          tile.yield %r : tensor<128x128xf32>
        }
        %m1, %alpha = tile.step @stat (%s2, %m) : (tensor<128x128xf32>, tensor<128xf32>) -> (tensor<128xf32>, tensor<128xf32>) {
        ^bb0(%x: tensor<128x128xf32>, %mp: tensor<128xf32>):
          %cs = tensor.splat %c : tensor<128xf32>
          %tau = arith.constant dense<8.0> : tensor<128xf32>
          %r = tile.reduce max %x dim 1 : tensor<128x128xf32> -> tensor<128xf32>
          %cur = arith.mulf %r, %cs : tensor<128xf32>
          %lim = arith.addf %mp, %tau : tensor<128xf32>
          %grew = arith.cmpf ogt, %cur, %lim : tensor<128xf32>
          %mn = arith.select %grew, %cur, %mp : tensor<128xi1>, tensor<128xf32>
          %d = arith.subf %mp, %mn : tensor<128xf32>
          %al = math.exp2 %d : tensor<128xf32>
          tile.yield %mn, %al : tensor<128xf32>, tensor<128xf32>
        }
        %p32 = tile.step @exp (%s2, %m1) : (tensor<128x128xf32>, tensor<128xf32>) -> tensor<128x128xf32> {
        ^bb0(%x: tensor<128x128xf32>, %mn: tensor<128xf32>):
          %cs = tensor.splat %c : tensor<128x128xf32>
          %neg = arith.negf %mn : tensor<128xf32>
          %nb = tile.broadcast %neg dim 1 : tensor<128xf32> -> tensor<128x128xf32>
          %t = math.fma %x, %cs, %nb : tensor<128x128xf32>
          %p = math.exp2 %t : tensor<128x128xf32>
          tile.yield %p : tensor<128x128xf32>
        }
        %l1 = tile.step @sum (%p32, %l, %alpha) : (tensor<128x128xf32>, tensor<128xf32>, tensor<128xf32>) -> tensor<128xf32> {
        ^bb0(%x: tensor<128x128xf32>, %lp: tensor<128xf32>, %al: tensor<128xf32>):
          %r = tile.reduce add %x dim 1 partial : tensor<128x128xf32> -> tensor<128xf32>
          %n = math.fma %lp, %al, %r : tensor<128xf32>
          tile.yield %n : tensor<128xf32>
        }
        %p = tile.step @cvt (%p32) : (tensor<128x128xf32>) -> tensor<128x128xbf16> {
        ^bb0(%x: tensor<128x128xf32>):
          %y = arith.truncf %x : tensor<128x128xf32> to tensor<128x128xbf16>
          tile.yield %y : tensor<128x128xbf16>
        }
        %o1 = tile.step @rescale (%o, %alpha) : (tensor<128x128xf32>, tensor<128xf32>) -> tensor<128x128xf32> {
        ^bb0(%x: tensor<128x128xf32>, %al: tensor<128xf32>):
          %one = arith.constant dense<1.0> : tensor<128xf32>
          %ch = arith.cmpf olt, %al, %one : tensor<128xf32>
          %any = tile.any %ch : tensor<128xi1>
          %y = scf.if %any -> tensor<128x128xf32> {
            %ab = tile.broadcast %al dim 1 : tensor<128xf32> -> tensor<128x128xf32>
            %z = arith.mulf %x, %ab : tensor<128x128xf32>
            scf.yield %z : tensor<128x128xf32>
          } else {
            scf.yield %x : tensor<128x128xf32>
          }
          tile.yield %y : tensor<128x128xf32>
        }
        %o2 = tile.step @pv (%p, %v, %o1) : (tensor<128x128xbf16>, tensor<128x128xbf16>, tensor<128x128xf32>) -> tensor<128x128xf32> {
        ^bb0(%a: tensor<128x128xbf16>, %bv: tensor<128x128xbf16>, %acc: tensor<128x128xf32>):
          %x = tile.mma %a, %bv acc(%acc : tensor<128x128xf32>) : tensor<128x128xbf16>, tensor<128x128xbf16> -> tensor<128x128xf32>
          tile.yield %x : tensor<128x128xf32>
        }
        tile.yield %m1, %l1, %o2 : tensor<128xf32>, tensor<128xf32>, tensor<128x128xf32>
      }
      %inv, %lse = tile.step @fin (%lf, %mf) : (tensor<128xf32>, tensor<128xf32>) -> (tensor<128xf32>, tensor<128xf32>) {
      ^bb0(%lp: tensor<128xf32>, %mn: tensor<128xf32>):
        %l = tile.complete %lp : tensor<128xf32> -> tensor<128xf32>
        %zero = arith.constant dense<0.0> : tensor<128xf32>
        %one = arith.constant dense<1.0> : tensor<128xf32>
        %ln2 = arith.constant dense<0.693147182> : tensor<128xf32>
        %empty = arith.cmpf oeq, %l, %zero : tensor<128xf32>
        %rc = arith.divf %one, %l : tensor<128xf32>
        %inv0 = arith.select %empty, %zero, %rc : tensor<128xi1>, tensor<128xf32>
        %lg = math.log2 %l : tensor<128xf32>
        %x = arith.addf %mn, %lg : tensor<128xf32>
        %y = arith.mulf %x, %ln2 : tensor<128xf32>
        tile.yield %inv0, %y : tensor<128xf32>, tensor<128xf32>
      }
      tile.step @check (%of, %lse, %w) : (tensor<128x128xf32>, tensor<128xf32>, !tile.work) -> () {
      ^bb0(%x: tensor<128x128xf32>, %y: tensor<128xf32>, %xw: !tile.work):
        tile.yield
      }
      %on = tile.step @norm (%of, %inv) : (tensor<128x128xf32>, tensor<128xf32>) -> tensor<128x128xf32> {
      ^bb0(%x: tensor<128x128xf32>, %iv: tensor<128xf32>):
        %ib = tile.broadcast %iv dim 1 : tensor<128xf32> -> tensor<128x128xf32>
        %y = arith.mulf %x, %ib : tensor<128x128xf32>
        tile.yield %y : tensor<128x128xf32>
      }
      %oe = tile.step @cvt_o (%on) : (tensor<128x128xf32>) -> tensor<128x128xbf16> {
      ^bb0(%x: tensor<128x128xf32>):
        %y = arith.truncf %x : tensor<128x128xf32> to tensor<128x128xbf16>
        tile.yield %y : tensor<128x128xbf16>
      }
      tile.step @st_o (%oe, %w) : (tensor<128x128xbf16>, !tile.work) -> () {
      ^bb0(%x: tensor<128x128xbf16>, %w0: !tile.work):
        %blk, %h, %b = tile.work_coords %w0
        %row = arith.muli %blk, %tm : i32
        tile.store %x, %O at(%b, %h, %row) #bshd : tensor<128x128xbf16>, tensor<?x?x?x128xbf16>
        tile.yield
      }
      tile.step @st_lse (%lse, %w) : (tensor<128xf32>, !tile.work) -> () {
      ^bb0(%x: tensor<128xf32>, %w0: !tile.work):
        %blk, %h, %b = tile.work_coords %w0
        %row = arith.muli %blk, %tm : i32
        tile.store_row %x, %LSE at(%b, %h, %row) : tensor<128xf32>, tensor<?x?x?xf32>
        tile.yield
      }
    }
  }
}
