#include "flow/slider_script.h"

namespace tessera::flow {

const std::string_view kSliderScript = R"js(
(function () {
  'use strict';
  // Paths of the sliders: x = u(tau) x0 + v(tau) eps, times as shares of T.
  const data = JSON.parse(document.getElementById('paths').textContent);
  const t = document.getElementById('t'), r = document.getElementById('r');
  const play = document.getElementById('play'), told = document.getElementById('told');
  const layers = document.querySelectorAll('#sliders path[data-symbol]');
  const last = data.u.length - 1;
  const at = (table, s) => {
    const k = Math.min(Math.floor(s * last), last - 1);
    return table[k] + (s * last - k) * (table[k + 1] - table[k]);
  };
  function draw() {
    const time = +t.value, share = +r.value, lines = data.codes.map(() => '');
    let inside = 0;
    data.t0.forEach((t0, i) => {
      const symbol = i % data.codes.length, code = data.codes[symbol];
      const tau = time + share * t0 * (1 - time), u = at(data.u, tau), v = at(data.v, tau);
      if (data.stays[i] || tau < t0) inside += 1;
      const x = data.half * (1 + (u * code[0] + v * data.eps[2 * i]) / data.extent);
      const y = data.half * (1 - (u * code[1] + v * data.eps[2 * i + 1]) / data.extent);
      lines[symbol] += 'M' + x.toFixed(1) + ' ' + y.toFixed(1) + 'h0';
    });
    layers.forEach((layer) => layer.setAttribute('d', lines[+layer.dataset.symbol]));
    document.getElementById('t-value').textContent = time.toFixed(2) + ' T';
    document.getElementById('r-value').textContent = share.toFixed(2);
    const percent = Math.round(100 * inside / data.t0.length);
    told.textContent = percent + ' % of these points are still in their own cell: decoding them is already right, and a network shown them has nothing to find out.';
  }
  let running = 0;
  function stop() { cancelAnimationFrame(running); running = 0; play.textContent = 'Play t from T to 0'; }
  play.addEventListener('click', () => {
    if (running) return stop();
    const began = performance.now();
    play.textContent = 'Stop';
    const frame = (now) => {
      const share = Math.min((now - began) / 5000, 1);
      t.value = 1 - share;
      draw();
      if (share < 1) running = requestAnimationFrame(frame); else stop();
    };
    running = requestAnimationFrame(frame);
  });
  t.addEventListener('input', () => { stop(); draw(); });
  r.addEventListener('input', draw);
  document.getElementById('controls').hidden = false;
  draw();
})();
)js";

}  // namespace tessera::flow
