#include "drawing/page.h"

namespace tessera::drawing {

const std::string_view kPageStyle = R"css(
:root{--paper:#fbf9f5;--ink:#25231f;--soft:#5f5a51;--rule:#ddd6c9;--accent:#c42c16;--plate:#f4f0e8;--mark:#f7e1b5;color-scheme:light}
@media (prefers-color-scheme:dark){:root:not([data-theme=light]){--paper:#16171a;--ink:#ece8e0;--soft:#aaa59b;--rule:#34353a;--accent:#ff7d5c;--plate:#1e1f23;--mark:#54431c;color-scheme:dark}}
:root[data-theme=dark]{--paper:#16171a;--ink:#ece8e0;--soft:#aaa59b;--rule:#34353a;--accent:#ff7d5c;--plate:#1e1f23;--mark:#54431c;color-scheme:dark}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%}
body{margin:0;background:var(--paper);color:var(--ink);font:1.0625rem/1.6 "Iowan Old Style","Palatino Linotype",Palatino,"Book Antiqua","URW Palladio L",P052,Georgia,serif}
main,header,footer{max-width:68rem;margin:0 auto;padding:0 1.5rem}
header{padding-top:4.5rem;padding-bottom:1rem;position:relative}
h1,h2{font-weight:500;line-height:1.15;letter-spacing:-.01em;text-wrap:balance}
h1{font-size:clamp(2.1rem,5.5vw,3.5rem);margin:.4rem 0 1.2rem;max-width:18ch}
h2{font-size:1.7rem;margin:0 0 .8rem}
p{margin:0 0 1rem;max-width:38rem;text-wrap:pretty;hyphens:manual}
header p{font-size:1.2rem;color:var(--soft)}
.mark{font:600 .8rem/1 "Inter","Helvetica Neue",Arial,sans-serif;letter-spacing:.16em;text-transform:uppercase;color:var(--accent)}
section{padding:3rem 0 2rem;border-top:1px solid var(--rule)}
section:first-of-type{border-top:0;padding-top:1.5rem}
figure{margin:1.8rem 0 0}
figcaption{font:.875rem/1.5 "Inter","Helvetica Neue",Arial,sans-serif;color:var(--soft);max-width:44rem;margin-top:1rem}
.panels{display:grid;gap:1.6rem 1.25rem;grid-template-columns:repeat(var(--columns),minmax(0,1fr))}
.panel>b{display:block;font:600 .875rem/1.35 "Inter","Helvetica Neue",Arial,sans-serif;margin-bottom:.5rem;font-variant-numeric:tabular-nums}
svg{display:block;width:100%;height:auto}
.plane svg{border-radius:3px}
.panels.chart{max-width:40rem}
.beside{display:grid;grid-template-columns:minmax(0,1fr) minmax(0,1fr);gap:3rem;align-items:start}
.beside figure{margin:0}
.wide{max-width:none}
.wide th,.wide td{white-space:nowrap}
.listing p{max-width:none;margin-bottom:.6rem}
.listing code,.listing pre{overflow-wrap:anywhere;white-space:pre-wrap}
mark{background:var(--mark);color:inherit;border-radius:.2em;padding:.05em .08em;margin:0 -.08em}
.cases{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,26rem),1fr));gap:1.6rem 2.5rem;margin-top:1.6rem}
.case,.glossary{font:.95rem/1.45 "Inter","Helvetica Neue",Arial,sans-serif;display:grid;grid-template-columns:max-content minmax(0,1fr);gap:.3rem 1rem;margin:0}
.case{border-top:1px solid var(--rule);padding-top:.7rem;align-content:start}
.case dt{color:var(--soft);max-width:10rem;overflow-wrap:anywhere}
.case dd,.glossary dd{margin:0;overflow-wrap:anywhere}
.glossary{gap:.7rem 1.4rem;max-width:44rem}
.glossary dt{font-weight:600}
.steps{margin:.6rem 0 0}
.steps th,.steps td{text-align:left}
.steps td{font-family:ui-monospace,"SF Mono",Menlo,Consolas,"DejaVu Sans Mono",monospace;padding-top:.2rem;padding-bottom:.2rem}
details{margin-top:1.2rem}
summary{cursor:pointer;font:600 .95rem/1.4 "Inter","Helvetica Neue",Arial,sans-serif}
.settings td{text-align:left;overflow-wrap:anywhere}
.legend{font:600 .875rem/1.4 "Inter","Helvetica Neue",Arial,sans-serif;display:flex;flex-wrap:wrap;gap:.3rem 1.4rem;margin:1.4rem 0 0;max-width:none}
.legend span{display:inline-flex;align-items:center;gap:.5rem}
.legend svg{width:1.6rem;height:.6rem;display:inline-block}
.scroll{overflow-x:auto}
.scroll tbody th{white-space:nowrap}
.formula{font-size:1.2rem;font-style:italic;margin:1.2rem 0;padding-left:1.2rem;border-left:3px solid var(--accent)}
sub{line-height:0;font-size:.72em}
em.stop{color:var(--accent);font-style:normal;font-weight:600}
.controls{font:.95rem/1.5 "Inter","Helvetica Neue",Arial,sans-serif;background:var(--plate);border-radius:6px;padding:1.4rem 1.5rem}
.controls label{display:grid;grid-template-columns:1.2rem 1fr 3.6rem;gap:.8rem;align-items:center;margin:0 0 .9rem}
.controls output{text-align:right;font-variant-numeric:tabular-nums}
.controls p{font-size:.95rem;margin:.9rem 0 0;font-variant-numeric:tabular-nums;min-height:4.6em}
input[type=range]{width:100%;accent-color:var(--accent);margin:0;height:1.6rem}
button{font:600 .85rem/1 "Inter","Helvetica Neue",Arial,sans-serif;color:var(--ink);background:none;border:1px solid var(--rule);border-radius:999px;padding:.6rem 1rem;cursor:pointer}
button:hover{border-color:var(--ink)}
button:focus-visible,input:focus-visible{outline:2px solid var(--accent);outline-offset:2px}
#theme{position:absolute;top:1.6rem;right:1.5rem}
table{border-collapse:collapse;font:.95rem/1.4 "Inter","Helvetica Neue",Arial,sans-serif;font-variant-numeric:tabular-nums;margin:1.8rem 0 1rem;width:100%;max-width:44rem}
th,td{text-align:right;padding:.55rem 0 .55rem 1rem;border-bottom:1px solid var(--rule)}
th:first-child,td:first-child{text-align:left;padding-left:0}
thead th{font-weight:500;color:var(--soft);vertical-align:bottom}
tbody th{font-weight:500}
footer::before{content:"";display:block;border-top:1px solid var(--rule);margin:1rem 0 2rem}
footer{padding-bottom:4rem;font:.875rem/1.6 "Inter","Helvetica Neue",Arial,sans-serif;color:var(--soft)}
footer p{max-width:44rem}
code{font:.875em/1.5 ui-monospace,"SF Mono",Menlo,Consolas,"DejaVu Sans Mono",monospace}
footer code{display:inline-block;color:var(--ink);background:var(--plate);padding:.3rem .6rem;border-radius:4px;overflow-wrap:anywhere}
@media (max-width:52rem){
.panels{grid-template-columns:repeat(var(--narrow),minmax(0,1fr));gap:1.2rem .9rem}
.beside{grid-template-columns:minmax(0,1fr);gap:1.6rem}
header{padding-top:4.6rem}
section{padding:2.2rem 0 1.4rem}
}
@media (max-width:34rem){
body{font-size:1rem}
svg text.chart{font-size:13px}
main,header,footer{padding-left:1.1rem;padding-right:1.1rem}
th,td{padding-left:.5rem;font-size:.85rem}
.controls{padding:1.1rem}
}
@media print{#theme,.controls{display:none}section{break-inside:avoid}}
)css";

const std::string_view kThemeScript = R"js(
(function () {
  'use strict';
  const root = document.documentElement, button = document.getElementById('theme');
  const system = matchMedia('(prefers-color-scheme: dark)');
  const dark = () => (root.dataset.theme || (system.matches ? 'dark' : 'light')) === 'dark';
  const name = () => { button.textContent = dark() ? 'Light' : 'Dark'; };
  try { const kept = localStorage.getItem('tessera-theme'); if (kept) root.dataset.theme = kept; } catch (e) {}
  button.hidden = false;
  button.addEventListener('click', () => {
    root.dataset.theme = dark() ? 'light' : 'dark';
    try { localStorage.setItem('tessera-theme', root.dataset.theme); } catch (e) {}
    name();
  });
  system.addEventListener('change', name);
  name();
})();
)js";

}  // namespace tessera::drawing
