// A kernel as attn-lower-channels leaves it, with a ring of two slots, a hold that is stored and a turn.

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 128, tile_n = 128, work = static>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>
#map = affine_map<(b, h, i, c) -> (b, i, h, c)>

ws.kernel @barriers machine "sm_90a" args ["k", "o" write, "n"] problem #p config #c schedule #s smem 49184 {
^bb0(%k: tensor<?x?x?x64xbf16>, %o: tensor<?x?x?x64xbf16>, %n: i32):
  ws.channel @k [tensor<128x64xbf16>] depth 2 at 0
  ws.hold @oe tensor<64x64xbf16> pieces 2 at 32768
  ws.setup {
    %filler = arith.constant 1 : i32
    %readers = arith.constant 8 : i32
    %0 = arith.constant 49152 : i32
    %full0 = ws.smem %0 : <3>
    nvvm.mbarrier.init %full0, %filler : !llvm.ptr<3>, i32
    %1 = arith.constant 49160 : i32
    %full1 = ws.smem %1 : <3>
    nvvm.mbarrier.init %full1, %filler : !llvm.ptr<3>, i32
    %2 = arith.constant 49168 : i32
    %free0 = ws.smem %2 : <3>
    nvvm.mbarrier.init %free0, %readers : !llvm.ptr<3>, i32
    %3 = arith.constant 49176 : i32
    %free1 = ws.smem %3 : <3>
    nvvm.mbarrier.init %free1, %readers : !llvm.ptr<3>, i32
  }
  ws.role @load warps 1 regs 24 replicas 1 {
  ^bb0(%me: i32):
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %depth = arith.constant 2 : i32
    %eight = arith.constant 8 : i32
    %slot_bytes = arith.constant 16384 : i32
    %full_at = arith.constant 49152 : i32
    %free_at = arith.constant 49168 : i32
    %free_first = arith.constant 1 : i32
    %slot_var = llvm.alloca %one x i32 : (i32) -> !llvm.ptr
    %parity_var = llvm.alloca %one x i32 : (i32) -> !llvm.ptr
    llvm.store %zero, %slot_var : i32, !llvm.ptr
    llvm.store %zero, %parity_var : i32, !llvm.ptr
    ws.work_loop extents(%n, %n, %n) {
      %work = tile.next_work extents(%n, %n, %n)
      %blocks:2 = tile.bounds %work : i32, i32 {
      ^bb0(%of: !tile.work):
        %none = arith.constant 0 : i32
        tile.yield %n, %none : i32, i32
      }
      scf.for %i = %zero to %blocks#0 step %one : i32 {
        %slot = llvm.load %slot_var : !llvm.ptr -> i32
        %parity = llvm.load %parity_var : !llvm.ptr -> i32
        %other = arith.xori %parity, %free_first : i32
        %bytes = arith.muli %slot, %eight : i32
        %free = arith.addi %free_at, %bytes : i32
        %free_barrier = ws.smem %free : <3>
        nvx.mbarrier_wait %free_barrier, %other : !llvm.ptr<3>
        %full = arith.addi %full_at, %bytes : i32
        %full_barrier = ws.smem %full : <3>
        %tile = arith.muli %slot, %slot_bytes : i32
        %to = ws.slot_at %tile : <@k, tensor<128x64xbf16>>
        %next = arith.addi %slot, %one : i32
        %wraps = arith.cmpi eq, %next, %depth : i32
        %wrapped = arith.select %wraps, %zero, %next : i32
        %bit = arith.extui %wraps : i1 to i32
        %flipped = arith.xori %parity, %bit : i32
        llvm.store %wrapped, %slot_var : i32, !llvm.ptr
        llvm.store %flipped, %parity_var : i32, !llvm.ptr
        %announced = arith.constant 16384 : i32
        nvvm.mbarrier.arrive.expect_tx %full_barrier, %announced : !llvm.ptr<3>, i32
        ws.copy %k at(%me, %me, %i) #map to %to barrier %full_barrier : tensor<?x?x?x64xbf16>, <@k, tensor<128x64xbf16>>, !llvm.ptr<3>
      }
    }
  }
  ws.role @wg warps 4 regs 240 replicas 2 {
  ^bb0(%me: i32):
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %depth = arith.constant 2 : i32
    %eight = arith.constant 8 : i32
    %full_at = arith.constant 49152 : i32
    %free_at = arith.constant 49168 : i32
    %own_turn = arith.constant 3 : i32
    %next_turn = arith.constant 4 : i32
    %both = arith.constant 256 : i32
    %replica = arith.constant 128 : i32
    %value = arith.constant dense<0> : vector<8xi32>
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %lane_mask = arith.constant 31 : i32
    %lane = arith.andi %tid, %lane_mask : i32
    %speaks = arith.cmpi eq, %lane, %zero : i32
    %thread_mask = arith.constant 127 : i32
    %thread = arith.andi %tid, %thread_mask : i32
    %stores = arith.cmpi eq, %thread, %zero : i32
    %awaits = arith.cmpi eq, %thread, %zero : i32
    %slot_var = llvm.alloca %one x i32 : (i32) -> !llvm.ptr
    %parity_var = llvm.alloca %one x i32 : (i32) -> !llvm.ptr
    llvm.store %zero, %slot_var : i32, !llvm.ptr
    llvm.store %zero, %parity_var : i32, !llvm.ptr
    %is_first = arith.cmpi eq, %me, %zero : i32
    scf.if %is_first {
      nvvm.barrier.arrive id = %own_turn number_of_threads = %both
    }
    %turn = arith.addi %own_turn, %me : i32
    %other_turn = arith.subi %next_turn, %me : i32
    %meeting = arith.addi %one, %me : i32
    ws.work_loop extents(%n, %n, %n) {
      %work = tile.next_work extents(%n, %n, %n)
      %blocks:2 = tile.bounds %work : i32, i32 {
      ^bb0(%of: !tile.work):
        %none = arith.constant 0 : i32
        tile.yield %n, %none : i32, i32
      }
      scf.for %i = %zero to %blocks#0 step %one : i32 {
        %slot = llvm.load %slot_var : !llvm.ptr -> i32
        %parity = llvm.load %parity_var : !llvm.ptr -> i32
        %bytes = arith.muli %slot, %eight : i32
        %full = arith.addi %full_at, %bytes : i32
        %full_barrier = ws.smem %full : <3>
        nvx.mbarrier_wait %full_barrier, %parity : !llvm.ptr<3>
        %free = arith.addi %free_at, %bytes : i32
        %free_barrier = ws.smem %free : <3>
        %next = arith.addi %slot, %one : i32
        %wraps = arith.cmpi eq, %next, %depth : i32
        %wrapped = arith.select %wraps, %zero, %next : i32
        %bit = arith.extui %wraps : i1 to i32
        %flipped = arith.xori %parity, %bit : i32
        llvm.store %wrapped, %slot_var : i32, !llvm.ptr
        llvm.store %flipped, %parity_var : i32, !llvm.ptr
        nvvm.barrier id = %turn number_of_threads = %both
        nvvm.barrier.arrive id = %other_turn number_of_threads = %both
        scf.if %speaks {
          nvvm.mbarrier.arrive %free_barrier : !llvm.ptr<3>
        }
      }
      ws.put %value in @oe[%me] : vector<8xi32>
      nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
      nvvm.barrier id = %meeting number_of_threads = %replica
      scf.if %stores {
        ws.store @oe[%me], %o at(%me, %me, %me) #map : tensor<?x?x?x64xbf16>
      }
      scf.if %awaits {
        nvvm.cp.async.bulk.wait_group 0 {read}
      }
      nvvm.barrier id = %meeting number_of_threads = %replica
    }
  }
}
