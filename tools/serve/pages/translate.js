// Sentences: every candidate is a row of tiles, which come loose and grey out of the noise.
(() => {
  const { $, calm, say, tell } = tessera;
  const kPresets = { watch: [20, 5, 1], fast: [2, 3, 1], balanced: [2, 9, 1], best: [4, 9, 2] };  // steps, lengths, noises
  const kMask = '□';
  const kShown = 9;  // rows, before one asks for all
  const kExamples = {
    de: ['Zwei Hunde spielen im Schnee.', 'Wo ist der nächste Bahnhof?', 'Ein Kind malt mit Kreide auf die Straße.', 'Ich habe heute keine Zeit.'],
    en: ['Two dogs are playing in the snow.', 'Where is the nearest station?', 'A child is drawing on the street with chalk.'],
    es: ['Dos perros juegan en la nieve.', '¿Dónde está la estación?'],
    fr: ['Deux chiens jouent dans la neige.', 'Où est la gare la plus proche ?'],
    it: ['Due cani giocano nella neve.'],
    nl: ['Twee honden spelen in de sneeuw.'],
    pl: ['Dwa psy bawią się w śniegu.'],
    pt: ['Dois cães brincam na neve.'],
  };
  let found = [], model = null;
  let run = null;      // what was asked for, its frames, its result
  let working = null;  // stops the request under way
  let all = false;     // rows are shown
  const drawn = new Map();  // candidate -> its row

  // --- a model and what it is asked ---
  const names = (() => {
    try { return new Intl.DisplayNames(['en'], { type: 'language' }); } catch (e) { return null; }
  })();
  function language(code) {
    try { return code ? names?.of(code) ?? code : ''; } catch (e) { return code; }
  }
  function title(entry) {
    const { source, target } = entry.languages ?? {};
    return source && target ? `${language(source)} to ${language(target)} (${entry.id})` : entry.id;
  }
  const examples = () => kExamples[model?.languages?.source] ?? [];
  function choose(id) {
    const before = examples();
    model = found.find((entry) => entry.id === id) ?? found[0];
    const { source, target } = model.languages ?? {};
    $('source').textContent = language(source) || 'Your sentence';
    $('target').textContent = language(target) || 'Result';
    $('q').lang = source || '';
    $('answer').lang = target || '';
    $('go').textContent = target ? 'Translate' : 'Generate';
    $('another').hidden = examples().length < 2;
    const typed = $('q').value.trim();
    if (!typed || before.includes(typed)) $('q').value = examples()[0] ?? '';
    const steps = model.steps > 0;
    $('presets').hidden = $('adjust').hidden = !steps;
    if (!steps && !$('settings').hidden) $('adjust').click();
    $('attribution').textContent = model.attribution ?? '';
    $('attribution').hidden = !model.attribution;
    $('stage-title').textContent = steps ? 'Out of noise' : 'Candidates';
    if (!run) $('facts').textContent = steps ? 'Grey tiles are noise. They settle as their words become sure.'
      : 'This model writes from left to right and has no steps to show.';
  }
  function preset() {
    const now = [$('steps'), $('lengths'), $('noises')].map((slider) => +slider.value).join();
    for (const radio of $('ask').elements.preset) radio.checked = kPresets[radio.value].join() === now;
  }
  function use(values) {
    [$('steps'), $('lengths'), $('noises')].forEach((slider, k) => tessera.set(slider, values[k]));
    preset();
  }
  function wanted() {
    const body = { q: $('q').value.trim(), model: model.id, split: false };
    if (model.steps > 0) {
      body.steps = +$('steps').value;
      body.candidates = `${$('lengths').value}x${$('noises').value}`;
    }
    return body;
  }

  // --- the address: what one can send to somebody ---
  function address(body) {
    const parts = { q: body.q };
    if (found.length > 1) parts.model = body.model;
    if (body.steps) Object.assign(parts, { steps: body.steps, candidates: body.candidates });
    return `#${new URLSearchParams(parts)}`;
  }
  // Takes over what the address says; true if there is a sentence in it.
  function readAddress() {
    const parts = new URLSearchParams(location.hash.slice(1));
    if (!parts.get('q')) return false;
    if (parts.has('model')) { $('model').value = parts.get('model'); choose(parts.get('model')); }
    $('q').value = parts.get('q');
    const [, lengths, noises] = /^(\d+)x(\d+)$/.exec(parts.get('candidates') ?? '') ?? [];
    if (parts.has('steps')) tessera.set($('steps'), parts.get('steps'));
    if (lengths) { tessera.set($('lengths'), lengths); tessera.set($('noises'), noises); }
    preset();
    return true;
  }

  // --- rows of tiles ---
  // Equal words have equal colours, in all candidates.
  function hue(word) {
    let hash = 2166136261;
    for (const sign of word.toLowerCase()) hash = Math.imul(hash ^ sign.codePointAt(0), 16777619);
    return ((hash >>> 13) ^ hash) & 7;
  }
  function element(tag, name, ...children) {
    const made = document.createElement(tag);
    if (name) made.className = name;
    made.append(...children);
    return made;
  }
  function bar(name, hint) {
    const term = element('dt', '', name), fill = element('i'), value = element('b');
    term.title = hint;
    return { parts: [term, element('dd', '', element('span', 'bar', fill), value)], fill, value };
  }
  function makeRow(k) {
    const pick = element('button', 'pick');
    pick.type = 'button';
    pick.addEventListener('click', () => { run.picked = k; film.again(); });
    const tiles = element('p', 'tiles');
    tiles.lang = model?.languages?.target ?? '';
    const agreement = bar('agreement', 'BLEU against the other candidates, mean');
    const confidence = bar('confidence', 'probability the model gives a word, mean');
    const scores = element('dl', 'scores', ...agreement.parts, ...confidence.parts);
    scores.hidden = true;
    const item = element('li', 'candidate', pick, tiles, scores);
    return { item, pick, tiles, scores, agreement, confidence, spans: [] };
  }
  // Words of a row at a step: what the network estimates, and what the noise says while it is noise.
  // Masks have nothing to say.
  function words(row) {
    return row.pieces.map((piece, k) => {
      const loose = row.outside[k] === '1', noisy = row.noisy?.[k] ?? piece, mask = loose && noisy === kMask;
      const text = loose && row.raw ? noisy : mask ? kMask : piece;
      const state = row.changed[k] === '1' && !mask ? 'struck' : loose ? 'loose' : 'set';
      const firm = mask ? 0 : loose ? row.firm[k] : 1;
      return { text, noise: loose && text !== noisy ? noisy : '', state, firm, glued: row.glued[k] === '1' && k > 0 };
    });
  }
  // A word is the firmer the longer it has stood, as a share of all the time there is.
  function harden(frame, before) {
    frame.rows.forEach((row, r) => {
      const old = before?.rows[r];
      row.since = row.pieces.map((_, k) => (row.changed[k] === '1' || !old?.since ? frame.t : old.since[k] ?? frame.t));
      row.firm = row.since.map((since) => Math.max(0, Math.min(1, (since - frame.t) / run.horizon)));
    });
  }
  // Before the first step: what the network is given.
  function noiseFrame(first) {
    const rows = first.rows.map((row) => {
      const none = '0'.repeat(row.pieces.length), all = '1'.repeat(row.pieces.length);
      return { ...row, pieces: row.noisy ?? row.pieces.map(() => ''), changed: none, outside: all, firm: row.pieces.map(() => 0), raw: true };
    });
    return { name: 'noise', t: first.t, rows };
  }
  const className = ({ text, state }) => `tile ${state} h${hue(text)}${text.trim() ? '' : ' blank'}`;
  const kBlanks = Array.from({ length: 9 }, () => ({ text: '', state: 'loose', firm: 0, glued: false }));
  function makeTile(k) {
    const span = element('span', 'tile');
    span.style.setProperty('--tilt', ((k * 37 + 11) % 9) - 4);
    span.style.setProperty('--lift', ((k * 53 + 7) % 7) - 3);
    span.style.setProperty('--turn', k % 12);
    span.style.setProperty('--wide', `${2.4 + ((k * 29) % 7) * 0.55}rem`);
    return span;
  }
  // Tiles of one word stand together, with a blank before the word.
  function join(row, tiles) {
    const pattern = tiles.map(({ glued }) => +glued).join('');
    if (row.pattern === pattern) return;
    row.pattern = pattern;
    row.spans.length = Math.min(row.spans.length, tiles.length);
    const parts = [];
    tiles.forEach(({ glued }, k) => {
      row.spans[k] ??= makeTile(k);
      if (glued && parts.length) parts.at(-1).append(row.spans[k]);
      else parts.push(' ', element('span', 'word', row.spans[k]));
    });
    row.tiles.replaceChildren(...parts);
  }
  function lay(row, tiles) {
    join(row, tiles);
    tiles.forEach((tile, k) => {
      const span = row.spans[k], style = className(tile);
      if (span.textContent !== tile.text) span.textContent = tile.text;
      span.dataset.noise = tile.noise ?? '';
      if (span.className !== style) span.className = style;
      span.style.setProperty('--firm', tile.firm.toFixed(2));
    });
    // A row never becomes lower while the film runs, or everything below it would jump.
    const height = row.tiles.offsetHeight;
    if (height > (row.height ?? 0)) row.tiles.style.minHeight = `${row.height = height}px`;
  }
  const order = () => run.order ?? Array.from({ length: run.candidates }, (_, k) => k);
  function arrange() {
    const visible = order().slice(0, all ? undefined : kShown);
    const before = new Map([...drawn].map(([k, row]) => [k, row.item.isConnected ? row.item.getBoundingClientRect().top : null]));
    for (const k of visible) if (!drawn.has(k)) drawn.set(k, makeRow(k));
    $('rows').replaceChildren(...visible.map((k) => drawn.get(k).item));
    $('all').hidden = visible.length === run.candidates;
    $('all').textContent = `Show all ${run.candidates}`;
    visible.forEach((k, place) => {
      const { item, pick } = drawn.get(k);
      pick.textContent = place + 1;
      pick.setAttribute('aria-label', `Candidate ${place + 1}${run.result && k === run.result.chosen ? ', chosen' : ''}`);
      const from = before.get(k), to = item.getBoundingClientRect().top;
      if (from !== undefined && from !== null && from !== to && !calm.matches)
        item.animate([{ transform: `translateY(${from - to}px)` }, { transform: 'none' }], { duration: 450, easing: 'cubic-bezier(.2,.8,.2,1)' });
    });
  }
  function score(name, share, text) {
    name.fill.style.width = `${Math.max(0, Math.min(1, share)) * 100}%`;
    name.value.textContent = text;
  }
  function showScores() {
    for (const [k, row] of drawn) {
      const told = run.result?.candidates?.[k], shown = !!told && !!run.settled;
      row.scores.hidden = !shown || told.confidence === undefined;
      row.item.classList.toggle('chosen', shown && k === run.result.chosen && run.candidates > 1);
      if (!shown || row.scores.hidden) continue;
      requestAnimationFrame(() => {
        const sure = Math.exp(told.confidence);
        score(row.confidence, sure, `${Math.round(100 * sure)} %`);
        score(row.agreement, told.expected_bleu / 100, `${Math.round(told.expected_bleu)}`);
      });
      for (const part of row.agreement.parts) part.hidden = run.candidates < 2;
    }
  }
  function answer(tiles) {
    const spans = [];
    for (const tile of tiles) {
      if (!tile.text.trim()) continue;
      if (spans.length && !tile.glued) spans.push(' ');
      const span = element('span', `${tile.state} h${hue(tile.text)}`, tile.text);
      span.style.setProperty('--firm', tile.firm.toFixed(2));
      spans.push(span);
    }
    $('answer').replaceChildren(...spans);
  }
  function show(n) {
    const frame = run.frames[n], end = n === run.frames.length - 1 && run.result;
    $('rows').style.setProperty('--unrest', run.frames[0].t > 0 ? Math.sqrt(frame.t / run.frames[0].t).toFixed(3) : 0);
    $('rows').classList.toggle('raw', !!frame.rows[0]?.raw);
    for (const [k, row] of drawn) {
      if (frame.rows[k] && row.item.isConnected) lay(row, words(frame.rows[k]));
      row.pick.setAttribute('aria-pressed', k === run.picked);
    }
    if (end) $('answer').textContent = run.result.candidates[run.picked]?.text ?? run.result.text;
    else if (frame.rows[run.picked]) answer(words(frame.rows[run.picked]));
    drawStrip(n);
  }

  // --- the strip ---
  const length = () => Math.max(run.calls + 2, run.frames.length);  // with the noise and the result
  const paints = new Map();
  function paint(name) {
    if (!paints.has(name)) paints.set(name, getComputedStyle(document.documentElement).getPropertyValue(name).trim());
    return paints.get(name);
  }
  function drawStrip(n) {
    const canvas = $('strip'), frames = run.frames, columns = length();
    const lines = Math.max(1, ...frames.map((frame) => frame.rows[run.picked]?.pieces.length ?? 0));
    const width = canvas.clientWidth, cell = Math.max(2, Math.min(9, (innerWidth < 600 ? 56 : 96) / lines)), height = Math.ceil(cell * lines);
    const scale = devicePixelRatio || 1, step = width / columns;
    canvas.style.height = `${height}px`;
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
    const context = canvas.getContext('2d');
    context.scale(scale, scale);
    const gap = cell > 5 ? 1.5 : 0.75, side = step > 5 ? 1.5 : 0.5;
    for (let column = 0; column < columns; ++column) {
      const row = frames[column]?.rows[run.picked];
      const tiles = row && column <= run.seen ? words(row) : [];
      for (let line = 0; line < lines; ++line) {
        const tile = tiles[line];
        if (tile && tile.state !== 'loose' && !tile.text.trim()) continue;
        const fill = (color, share) => {
          context.fillStyle = paint(color);
          context.globalAlpha = share;
          context.fillRect(column * step + side / 2, line * cell + gap / 2, step - side, cell - gap);
        };
        fill('--loose', tile ? 1 : 0.4);
        if (tile) fill(`--${tile.state === 'struck' ? 'mark' : 'tile'}-${hue(tile.text)}`, tile.state === 'struck' ? 0.8 : tile.firm);
      }
    }
    const head = $('head');
    head.style.left = `${n * step - 1}px`;
    head.style.width = `${step + 2}px`;
  }
  function seekStrip(event) {
    if (!run || event.buttons !== 1) return;
    const box = $('strip').getBoundingClientRect();
    film.seek(Math.floor((event.clientX - box.left) / box.width * length()));
  }

  const film = tessera.player({
    show(n) { run.seen = Math.max(run.seen, n); show(n); },
    name: (n) => run.frames[n].name ?? `step ${run.frames[n].step} of ${run.calls}`,
    rest() { if (!run.settled && run.result) settle(); },
  });

  // --- a run ---
  function clear(candidates) {
    run.candidates = candidates;
    drawn.clear();
    all = false;
    arrange();
    for (const row of drawn.values()) lay(row, kBlanks);
  }
  function settle() {
    const { result, told } = run;
    run.settled = true;
    const ranking = result.ranking ?? result.candidates.map((_, k) => k)
      .sort((a, b) => (b === result.chosen) - (a === result.chosen) || result.candidates[b].expected_bleu - result.candidates[a].expected_bleu);
    run.order = ranking;
    run.picked = result.chosen;
    arrange();
    showScores();
    film.again();
    const seconds = told.compute_ms < 1000 ? `${Math.round(told.compute_ms)} ms` : `${(told.compute_ms / 1000).toFixed(1)} s`;
    const count = run.candidates === 1 ? 'one candidate' : `${run.candidates} candidates`;
    $('facts').textContent = run.calls ? `${count}, ${run.calls} ${run.calls === 1 ? 'step' : 'steps'}, ${seconds}` : `${count}, ${seconds}`;
    say(result.truncated ? 'The sentence was longer than the model can read: its end was left out.' : '');
    tell(`Result: ${result.text || 'nothing'}`);
    $('copy').hidden = $('share').hidden = $('keys').hidden = false;
    $('keys').hidden = !run.calls;
  }
  // The result as tiles: those of the last step, or, of a model without steps, its words.
  function resultFrame(result) {
    const last = run.frames.at(-1);
    const rows = result.candidates.map(({ text }, k) => {
      const row = last?.rows[k] ?? { pieces: text.split(/\s+/).filter(Boolean) };
      const none = '0'.repeat(row.pieces.length);
      return { pieces: row.pieces, glued: row.glued ?? none, changed: none, outside: none };
    });
    return { name: 'result', t: 0, rows };
  }
  async function begin() {
    const body = wanted();
    if (!body.q) { say('Type a sentence first.'); tell('Type a sentence first.'); $('q').focus(); return; }
    working?.abort();
    const control = working = new AbortController();
    history.replaceState(null, '', address(body));
    run = { body, frames: [], calls: 0, candidates: 0, picked: 0, seen: -1, result: null };
    film.begin();
    clear(body.candidates ? body.candidates.split('x').reduce((a, b) => a * b) : 1);
    $('rows').classList.remove('idle');
    $('rows').classList.add('waiting');
    $('film').hidden = $('view').hidden = true;
    $('copy').hidden = $('share').hidden = true;
    $('answer').replaceChildren();
    $('facts').textContent = '';
    $('go').textContent = 'Stop';
    $('go').classList.add('stop');
    say('Sent.');
    tell('Working.');
    const still = () => working === control;
    try {
      await tessera.stream('v1/translate', body, {
        queued({ before }) {
          say(before === 0 ? 'Waiting: next in line.' : `Waiting: ${before} ${before === 1 ? 'text is' : 'texts are'} before yours.`);
        },
        start({ steps, candidates }) {
          run.calls = steps ?? 0;
          if (candidates && candidates !== run.candidates) clear(candidates);
          say('');
        },
        step(frame) {
          if (!run.frames.length) {
            $('rows').classList.remove('waiting');
            $('film').hidden = $('view').hidden = false;
            if (frame.rows.length !== run.candidates) clear(frame.rows.length);
            reveal();
          }
          if (!run.frames.length) {
            run.horizon = frame.t || 1;
            run.frames.push(noiseFrame(frame));
          }
          harden(frame, run.frames.at(-1));
          run.frames.push(frame);
          film.grow(run.frames.length, length());
        },
        result(told) {
          run.told = told;
          run.result = told.results[0];
          run.result.candidates ??= [{ text: run.result.text }];  // nothing to translate
          run.result.chosen ??= 0;
          if (!run.frames.length) {
            run.calls = 0;
            if (run.result.candidates.length !== run.candidates) clear(run.result.candidates.length);
          }
          run.frames.push(resultFrame(run.result));
          film.grow(run.frames.length, run.frames.length);
        },
      }, control.signal);
    } catch (error) {
      if (still()) tessera.explain(error, begin);
      if (error.name === 'AbortError' && still()) { say('Stopped.'); tell('Stopped.'); }
    } finally {
      if (still()) {
        working = null;
        $('rows').classList.remove('waiting');
        $('go').classList.remove('stop');
        $('go').textContent = model.languages?.target ? 'Translate' : 'Generate';
        if (run.frames.length) film.end();
        else { run = null; idle(); }
      }
    }
  }

  // Scrolls to where the tiles can be seen under the sentence.
  function reveal() {
    if ($('stage').getBoundingClientRect().top > innerHeight * 0.45)
      $(innerWidth < 832 ? 'answer-pane' : 'ask').scrollIntoView({ behavior: calm.matches ? 'auto' : 'smooth', block: 'start' });
  }
  // Before anything was asked for: tiles without words.
  function idle() {
    run = null;
    $('film').hidden = $('view').hidden = $('all').hidden = $('keys').hidden = true;
    const rows = [0, 1, 2].map((k) => {
      const row = makeRow(k);
      row.pick.remove();
      lay(row, [...kBlanks, ...kBlanks]);
      row.spans.forEach((span, n) => span.style.setProperty('--wide', `${2.6 + ((n * 29 + k * 17) % 5) * 0.8}rem`));
      row.item.setAttribute('aria-hidden', 'true');
      return row.item;
    });
    $('rows').classList.add('idle');
    $('rows').replaceChildren(...rows);
  }
  async function load() {
    $('go').disabled = true;
    try {
      found = (await tessera.models()).filter(({ kind }) => kind !== 'images');
    } catch (error) {
      $('go').textContent = 'Not ready';
      tessera.explain(error, load);
      return;
    }
    if (!found.length) {
      $('go').textContent = 'No text model';
      say('This server has no model of texts. Its images are on the other page.');
      return;
    }
    say('');
    tessera.offer(found, title);
    choose();
    $('go').disabled = false;
    if (readAddress()) begin();
    else if (matchMedia('(hover: hover)').matches) $('q').focus();
  }

  tessera.tieSliders();
  tessera.onTheme(() => { paints.clear(); film.again(); });
  $('ask').addEventListener('submit', (event) => {
    event.preventDefault();
    if (working) working.abort(); else if (model) begin();
  });
  $('q').addEventListener('keydown', (event) => {
    if (event.key === 'Enter' && !event.shiftKey && !event.isComposing) { event.preventDefault(); if (model) begin(); }
  });
  $('model').addEventListener('change', () => choose($('model').value));
  $('another').addEventListener('click', () => {
    const list = examples();
    $('q').value = list[(list.indexOf($('q').value.trim()) + 1) % list.length];
  });
  for (const radio of $('ask').elements.preset) radio.addEventListener('change', () => use(kPresets[radio.value]));
  for (const id of ['steps', 'lengths', 'noises']) $(id).addEventListener('input', preset);
  $('noise').addEventListener('change', () => $('rows').classList.toggle('bare', !$('noise').checked));
  $('all').addEventListener('click', () => { all = true; arrange(); showScores(); film.again(); });
  $('copy').addEventListener('click', () => tessera.copy($('answer').textContent, $('copy')));
  $('share').addEventListener('click', () => tessera.copy(location.origin + location.pathname + address(run.body), $('share')));
  $('strip').addEventListener('pointerdown', seekStrip);
  $('strip').addEventListener('pointermove', seekStrip);
  document.addEventListener('keydown', (event) => {
    if (event.key === 'Escape' && working) working.abort();
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest('input,textarea,select')) return;
    if (event.key === '/') { event.preventDefault(); $('q').focus(); $('q').select(); }
    if (event.key === 'n' && run) $('noise').click();
  });
  addEventListener('resize', () => {
    for (const row of drawn.values()) { row.height = 0; row.tiles.style.minHeight = ''; }
    film.again();
  });
  addEventListener('hashchange', () => { if (found.length && readAddress()) begin(); });
  addEventListener('pagehide', () => working?.abort());
  idle();
  load();
})();
