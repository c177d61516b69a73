#include "report/film.h"

#include "drawing/page.h"
#include "drawing/svg.h"
#include "image/png.h"

#include <fmt/format.h>

namespace tessera::report {
namespace {

// Two pictures, one slider, one button.
constexpr std::string_view kScript = R"js(
const film = document.querySelector('.film');
const frames = JSON.parse(document.getElementById('frames').textContent);
const pictures = film.querySelectorAll('img'), slider = film.querySelector('input');
const label = film.querySelector('output'), button = film.querySelector('button');
let timer = 0;
const show = n => {
  slider.value = n;
  pictures[0].src = frames[n].noisy;
  pictures[1].src = frames[n].seen;
  label.textContent = 't = ' + frames[n].t;
};
const stop = () => { clearInterval(timer); timer = 0; button.textContent = 'play'; };
const play = () => {
  if (+slider.value === frames.length - 1) show(0);
  button.textContent = 'stop';
  timer = setInterval(() => {
    const n = +slider.value + 1;
    if (n >= frames.length) stop(); else show(n);
  }, 120);
};
button.onclick = () => timer ? stop() : play();
slider.oninput = () => { stop(); show(+slider.value); };
show(frames.length - 1);
if (!matchMedia('(prefers-reduced-motion: reduce)').matches) play();
)js";

constexpr std::string_view kStyle = R"(<style>
.film { display: grid; gap: 1rem; }
.film .pictures { display: grid; grid-template-columns: repeat(auto-fit, minmax(16rem, 1fr)); gap: 1rem; }
.film img { width: 100%; image-rendering: pixelated; }
.film .controls { display: flex; gap: 1rem; align-items: center; }
.film .controls input { flex: 1; min-width: 4rem; }
.film output { min-width: 6rem; font-variant-numeric: tabular-nums; }
</style>)";

}  // namespace

std::string film_page(const std::vector<FilmFrame>& frames, const std::string& title,
                      const std::string& details) {
  std::string data;
  for (const FilmFrame& frame : frames)
    data += fmt::format(R"({}{{"t":{:g},"noisy":"{}","seen":"{}"}})", data.empty() ? "" : ",",
                        frame.t, image::png_data_uri(frame.noisy), image::png_data_uri(frame.seen));
  const std::string body = fmt::format(
      R"({}<div class="film"><div class="pictures">)"
      R"(<figure><img alt="the noisy picture, rounded to pixels"><figcaption>what the network is given, rounded to pixels</figcaption></figure>)"
      R"(<figure><img alt="the network's estimate"><figcaption>what it sees in it</figcaption></figure></div>)"
      R"(<div class="controls"><button type="button">play</button>)"
      R"(<input type="range" min="0" max="{}" step="1" aria-label="step"><output></output></div></div>)"
      R"(<script type="application/json" id="frames">[{}]</script>)",
      kStyle, frames.size() - 1, data);
  return drawing::page({.title = title,
                        .heading = title,
                        .lead = drawing::escaped(details),
                        .body = drawing::section("From noise to pictures", body),
                        .footer = "",
                        .script = std::string(kScript)});
}

}  // namespace tessera::report
