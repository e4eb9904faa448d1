// A sliding window beside a causal mask: query i sees key i, on the diagonal, and
// the window_left keys before it. Blocks of keys outside the window are skipped;
// those at its two ends are masked.
//
// The bound is an argument of the launch, so one kernel serves every width. With
// mask(window_bottom_right) the window may have a bound on the right as well:
// window_right(%right).
func.func @window(%q: tensor<?x?x?x128xbf16>, %k: tensor<?x?x?x128xbf16>,
                  %v: tensor<?x?x?x128xbf16>, %scale: f32, %left: i32)
    -> (tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>) {
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(causal_bottom_right) layout(bshd)
      window_left(%left)
      : (tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>)
        -> (tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>)
  return %o, %lse : tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>
}
