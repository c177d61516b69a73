// Pictures: every tile is a film out of noise.
(() => {
  const { $, say, tell } = tessera;
  const kReel = 16;  // frames of the chosen picture, shown side by side
  let found = [], model = null;
  let run = null, working = null, side = 'seen';

  // --- a model and what it is asked ---
  function choose(id) {
    model = found.find((entry) => entry.id === id) ?? found[0];
    const classes = model.classes ?? [];
    $('class').replaceChildren(new Option('all classes in turn', ''), ...classes.map((name) => new Option(name, name)));
    $('classes').hidden = $('guided').hidden = !classes.length;
    if (model.steps > 0) tessera.set($('steps'), model.steps);
    $('attribution').textContent = model.attribution ?? '';
    $('attribution').hidden = !model.attribution;
    if (!run) idle();
  }
  const count = () => +$('ask').elements.count.value;
  function wanted() {
    const body = { model: model.id, count: count(), steps: +$('steps').value, seed: +$('seed').value };
    if ($('class').value) body.label = $('class').value;
    if (model.classes?.length && +$('guidance').value !== 1) body.guidance = +$('guidance').value;
    return body;
  }
  function address({ count: n, steps, seed, label, guidance, model: id }) {
    const parts = { n, steps, seed };
    if (found.length > 1) parts.model = id;
    if (label) parts.class = label;
    if (guidance) parts.guidance = guidance;
    return `#${new URLSearchParams(parts)}`;
  }
  function readAddress() {
    const parts = new URLSearchParams(location.hash.slice(1));
    if (!parts.get('seed')) return false;
    if (parts.has('model')) { $('model').value = parts.get('model'); choose(parts.get('model')); }
    for (const name of ['steps', 'seed', 'guidance']) if (parts.has(name)) tessera.set($(name), parts.get(name));
    if ([...$('class').options].some(({ value }) => value === parts.get('class'))) $('class').value = parts.get('class');
    for (const radio of $('ask').elements.count) if (radio.value === parts.get('n')) radio.checked = true;
    return true;
  }

  // --- tiles ---
  function element(tag, ...children) {
    const made = document.createElement(tag);
    made.append(...children);
    return made;
  }
  function canvas() {
    const made = document.createElement('canvas');
    made.width = model?.width || 32;
    made.height = model?.height || 32;
    return made;
  }
  // What a tile is before anything was asked for.
  function scatter(target) {
    const context = target.getContext('2d'), pixels = context.createImageData(target.width, target.height);
    for (let k = 0; k < pixels.data.length; k += 4) {
      pixels.data.fill(90 + Math.random() * 120, k, k + 3);
      pixels.data[k + 3] = 110;
    }
    context.putImageData(pixels, 0, 0);
  }
  function draw(target, picture) {
    const context = target.getContext('2d');
    if (target.width !== picture.naturalWidth || target.height !== picture.naturalHeight) {
      target.width = picture.naturalWidth;
      target.height = picture.naturalHeight;
    }
    context.clearRect(0, 0, target.width, target.height);
    context.drawImage(picture, 0, 0);
  }
  async function decoded(png) {
    const picture = new Image();
    picture.src = `data:image/png;base64,${png}`;
    await picture.decode();
    return picture;
  }
  function makeTiles(number, label) {
    const classes = model?.classes ?? [];
    return Array.from({ length: number }, (_, k) => {
      const name = label || (classes.length ? classes[k % classes.length] : '');
      const picture = canvas(), caption = element('span', name), button = element('button', picture, caption);
      button.type = 'button';
      button.style.setProperty('--turn', k);
      button.setAttribute('aria-label', `Picture ${k + 1}${name ? `: ${name}` : ''}`);
      button.addEventListener('click', () => { if (run?.settled) { run.picked = k; pick(); } });
      scatter(picture);
      return { picture, button };
    });
  }
  function hang(tiles) {
    const columns = { 1: 1, 4: 4, 9: 3, 16: 4 }[tiles.length] ?? 4;
    $('gallery').style.setProperty('--columns', columns);
    $('gallery').style.setProperty('--wanted', tiles.length === 4 ? 2 : columns);
    $('gallery').replaceChildren(...tiles.map(({ button }) => button));
  }
  function show(n) {
    run.tiles.forEach(({ picture }, k) => draw(picture, run.frames[n].pictures[k][side]));
    for (const part of $('reel').children) part.toggleAttribute('aria-current', +part.dataset.step === n);
  }
  // Some steps of the chosen picture, side by side.
  function pick() {
    const { frames, picked, tiles } = run;
    tiles.forEach(({ button }, k) => button.setAttribute('aria-pressed', k === picked));
    $('reel').hidden = frames.length < 2 || film.live;
    if ($('reel').hidden) return;
    const number = Math.min(kReel, frames.length);
    $('reel').replaceChildren(...Array.from({ length: number }, (_, k) => {
      const n = Math.round(k * (frames.length - 1) / Math.max(number - 1, 1)), { name, pictures } = frames[n];
      const picture = canvas(), button = element('button', picture, name.replace('step ', ''));
      button.type = 'button';
      button.dataset.step = n;
      button.setAttribute('aria-label', name);
      button.addEventListener('click', () => film.seek(n));
      draw(picture, pictures[picked][side]);
      return button;
    }));
    film.again();
  }
  const film = tessera.player({
    show,
    name: (n) => (run.frames[n].name.startsWith('step') ? `${run.frames[n].name} of ${run.calls}` : run.frames[n].name),
    rest() { if (run.told && !run.settled) settle(); },
  });

  // --- a run ---
  function settle() {
    run.settled = true;
    const ms = run.told.compute_ms ?? 0, many = run.tiles.length;
    const pictures = many === 1 ? 'one picture' : `${many} pictures`;
    $('facts').textContent = `${pictures}, ${run.calls} steps, ${ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`}`;
    tell(`${pictures} ready.`);
    $('view').hidden = false;
    $('keys').hidden = !run.calls;
    $('save-all').hidden = many === 1;
    pick();
  }
  async function begin() {
    working?.abort();
    const control = working = new AbortController(), still = () => working === control;
    const body = wanted(), tiles = makeTiles(body.count, body.label);
    const own = run = { body, tiles, frames: [], calls: body.steps, picked: 0, told: null, settled: false };
    let decoding = Promise.resolve();  // pictures, one frame after the other
    // Adds a frame once its pictures are decoded; each is {noisy, seen}.
    const add = (name, pictures) => {
      decoding = decoding.then(async () => {
        const ready = await Promise.all(pictures.map(async ({ noisy, seen }) => ({ noisy: await decoded(noisy), seen: await decoded(seen) })));
        if (run !== own) return;
        if (!own.frames.length) {
          $('gallery').classList.remove('waiting');
          $('film').hidden = false;
          if (name.startsWith('step')) own.frames.push({ name: 'noise', pictures: ready.map(({ noisy }) => ({ noisy, seen: noisy })) });
        }
        own.frames.push({ name, pictures: ready });
        film.grow(own.frames.length, own.calls + 2);
      });
    };
    history.replaceState(null, '', address(body));
    film.begin();
    hang(tiles);
    $('gallery').classList.add('waiting');
    $('film').hidden = $('view').hidden = $('reel').hidden = $('keys').hidden = true;
    $('facts').textContent = '';
    $('go').textContent = 'Stop';
    $('go').classList.add('stop');
    say('Sent.');
    tell('Working.');
    let broken = null;
    try {
      await tessera.stream('v1/images', body, {
        queued({ before }) { say(before === 0 ? 'Waiting: next in line.' : `Waiting: ${before} before yours.`); },
        start({ steps }) {
          own.calls = steps ?? own.calls;
          say('');
        },
        step({ step, images }) { add(`step ${step}`, images); },
        result(told) {
          own.told = told;
          own.pngs = told.images;
          add('result', told.images.map((png) => ({ noisy: png, seen: png })));
        },
      }, control.signal);
    } catch (error) {
      broken = error;
    }
    await decoding.catch((error) => { broken ??= error; });
    if (!still()) return;
    working = null;
    $('gallery').classList.remove('waiting');
    $('go').classList.remove('stop');
    $('go').textContent = broken ? 'Make pictures' : 'New noise';
    if (broken?.name === 'AbortError') { say('Stopped.'); tell('Stopped.'); }
    else if (broken) tessera.explain(broken, begin);
    if (own.frames.length) film.end();
    else { run = null; idle(); }
  }
  function idle() {
    $('facts').textContent = 'This is where it begins.';
    hang(makeTiles(count(), $('class').value));
    for (const button of $('gallery').children) button.tabIndex = -1;
  }

  // --- keeping pictures ---
  function save(address, name) {
    const link = document.createElement('a');
    link.href = address;
    link.download = name;
    link.click();
  }
  const fileName = (rest) => `${model.id}-${run.body.seed}-${rest}.png`.replaceAll(/[^\w.-]+/g, '-');
  function saveOne() {
    const png = film.at === film.count - 1 && run.pngs?.[run.picked];  // as the server made it
    save(png ? `data:image/png;base64,${png}` : run.tiles[run.picked].picture.toDataURL('image/png'), fileName(run.picked + 1));
  }
  function saveAll() {
    const { width, height } = run.tiles[0].picture, columns = Math.ceil(Math.sqrt(run.tiles.length));
    const scale = Math.max(1, Math.round(128 / width)), gap = 2 * scale, sheet = document.createElement('canvas');
    const rows = Math.ceil(run.tiles.length / columns);
    sheet.width = columns * (width * scale + gap) - gap;
    sheet.height = rows * (height * scale + gap) - gap;
    const context = sheet.getContext('2d');
    context.imageSmoothingEnabled = false;
    run.tiles.forEach(({ picture }, k) => {
      const x = (k % columns) * (width * scale + gap), y = Math.floor(k / columns) * (height * scale + gap);
      context.drawImage(picture, x, y, width * scale, height * scale);
    });
    save(sheet.toDataURL('image/png'), fileName('all'));
  }

  async function load() {
    $('go').disabled = true;
    try {
      found = (await tessera.models()).filter(({ kind }) => kind === 'images');
    } catch (error) {
      $('go').textContent = 'Not ready';
      tessera.explain(error, load);
      return;
    }
    if (!found.length) {
      $('go').textContent = 'No image model';
      say('This server has no model of images. Its sentences are on the other page.');
      return;
    }
    say('');
    tessera.offer(found, ({ id }) => id);
    choose();
    $('go').textContent = 'Make pictures';
    $('go').disabled = false;
    if (readAddress()) begin();
  }

  tessera.tieSliders();
  $('ask').addEventListener('submit', (event) => {
    event.preventDefault();
    if (working) { working.abort(); return; }
    if (!model) return;
    // Pictures that are there come again only if something else was asked for.
    if (run && address(wanted()) === address(run.body)) tessera.set($('seed'), +$('seed').value % 999 + 1);
    begin();
  });
  $('model').addEventListener('change', () => choose($('model').value));
  for (const name of ['ask', 'class']) $(name).addEventListener('change', () => { if (!run && model) idle(); if (run && !working) $('go').textContent = address(wanted()) === address(run.body) ? 'New noise' : 'Make pictures'; });
  for (const radio of document.getElementsByName('side')) radio.addEventListener('change', () => { side = radio.value; if (run?.settled) pick(); });
  $('save').addEventListener('click', saveOne);
  $('save-all').addEventListener('click', saveAll);
  $('share').addEventListener('click', () => tessera.copy(location.origin + location.pathname + address(run.body), $('share')));
  document.addEventListener('keydown', (event) => { if (event.key === 'Escape') working?.abort(); });
  addEventListener('hashchange', () => { if (found.length && readAddress()) begin(); });
  addEventListener('pagehide', () => working?.abort());
  idle();
  load();
})();
