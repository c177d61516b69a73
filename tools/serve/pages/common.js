// What both pages need: talking to the server, saying what happens, playing a film of steps.
const tessera = (() => {
  const $ = (id) => document.getElementById(id);
  const calm = matchMedia('(prefers-reduced-motion: reduce)');
  const kToken = 'tessera-token';
  const kFrame = 60;    // ms that a step is shown, at least
  const kFirst = 350;   // ms that the noise is shown
  const kTries = 6;      // of a request that a full server refuses

  // --- what happens ---
  // `words` is seen, and read aloud if it is said to be; `more` stands below it, smaller.
  function say(words, { more = '', bad = false, buttons = [] } = {}) {
    const notice = $('notice');
    notice.replaceChildren(words);
    notice.classList.toggle('bad', bad);
    if (more) {
      const small = document.createElement('small');
      small.textContent = more;
      notice.append(small);
    }
    for (const [name, act] of buttons) {
      const button = document.createElement('button');
      button.type = 'button';
      button.textContent = name;
      button.addEventListener('click', act);
      notice.append(button);
    }
  }
  function tell(words) { $('told').textContent = words; }

  // --- the token ---
  let kept = '';
  try { kept = sessionStorage.getItem(kToken) || ''; } catch (e) { /* not allowed: asked for again */ }
  function keep(token) {
    kept = token;
    try { sessionStorage.setItem(kToken, token); } catch (e) { /* it lasts as long as the page */ }
  }
  // Asks for it; `then` goes on with what was refused.
  function askForToken(then) {
    const form = $('token-form');
    const words = kept ? 'The server did not take this token. Is there another one?'
      : 'This server wants a token. Whoever runs it can give you one.';
    $('token-words').textContent = words;
    form.hidden = false;
    say('');
    tell(words);
    $('token').focus();
    form.onsubmit = (event) => {
      event.preventDefault();
      keep($('token').value.trim());
      $('token').value = '';
      form.hidden = true;
      then();
    };
  }

  // --- requests ---
  // What went wrong, in words for a person.
  class Failure extends Error {
    constructor(message, { hint = '', status = 0, wait = null } = {}) {
      super(message);
      Object.assign(this, { hint, status, wait });
    }
  }
  async function failure(response) {
    let body = {};
    try { body = await response.json(); } catch (e) { /* not ours: perhaps of a proxy */ }
    const own = typeof body.error === 'string' ? body.error : '';
    const seconds = Number.parseInt(response.headers.get('retry-after') ?? '', 10);
    const words = {
      413: 'That is longer than this server takes.',
      429: 'The server has all hands full.',
      502: 'The server behind this address does not answer.',
      503: 'The server cannot take this now.',
    }[response.status];
    const known = words ?? (own || `The server answered with ${response.status}.`);
    const hint = [words ? own : '', body.hint, body.id ? `The server's log calls it ${body.id}.` : ''];
    return new Failure(known, {
      hint: hint.filter((text) => typeof text === 'string' && text).join(' '),
      status: response.status,
      wait: Number.isFinite(seconds) ? Math.max(seconds, 1) : null,
    });
  }
  async function ask(path, body, signal) {
    const headers = kept ? { Authorization: `Bearer ${kept}` } : {};
    if (body) headers['Content-Type'] = 'application/json';
    let response;
    try {
      response = await fetch(path, {
        method: body ? 'POST' : 'GET', headers, signal, credentials: 'omit',
        body: body ? JSON.stringify(body) : undefined,
      });
    } catch (error) {
      if (error.name === 'AbortError') throw error;
      throw new Failure('The server does not answer.', { hint: 'Is it still running?' });
    }
    if (!response.ok) throw await failure(response);
    return response;
  }
  const pause = (ms, signal) => new Promise((done, stopped) => {
    const stop = () => { clearTimeout(timer); stopped(new DOMException('stopped', 'AbortError')); };
    const timer = setTimeout(() => { signal?.removeEventListener('abort', stop); done(); }, ms);
    signal?.addEventListener('abort', stop, { once: true });
  });
  // The same, but a server that is full or not ready is asked again when it says.
  async function askPatiently(path, body, signal) {
    for (let tried = 1; ; ++tried) {
      try {
        return await ask(path, body, signal);
      } catch (error) {
        const later = error.status === 429 || error.status === 503;
        if (!later || error.wait === null || tried === kTries) throw error;
        tell(`${error.message} The page asks again in ${error.wait} seconds.`);
        for (let left = error.wait; left > 0; --left) {
          say(`${error.message} Asking again in ${left} s.`, { more: error.hint });
          await pause(1000, signal);
        }
        say('Asking again.');
      }
    }
  }
  async function models(signal) {
    const answer = await (await askPatiently('v1/models', null, signal)).json();
    return Array.isArray(answer.data) ? answer.data : [];
  }

  // Calls on[name](data) for every event of a stream.
  async function stream(path, body, on, signal) {
    const response = await askPatiently(path, { ...body, stream: true }, signal);
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let text = '', ended = false;
    const take = (block) => {
      let name = 'message', data = '';
      for (const line of block.split('\n')) {
        if (line.startsWith('event:')) name = line.slice(6).trim();
        if (line.startsWith('data:')) data += line.slice(5).trim();
      }
      if (!data) return;  // a comment that keeps the connection alive
      const told = JSON.parse(data);
      if (name === 'error') throw new Failure(told.error || 'The server gave up.', { hint: told.hint });
      if (name === 'result') ended = true;
      on[name]?.(told);
    };
    try {
      for (;;) {
        const { done, value } = await reader.read();
        if (done) break;
        text += value.replaceAll('\r', '');
        const blocks = text.split('\n\n');
        text = blocks.pop();
        blocks.forEach(take);
      }
    } catch (error) {
      if (error instanceof Failure || error.name === 'AbortError') throw error;
      throw new Failure('The connection broke off.', { hint: 'The steps that came are shown.' });
    } finally {
      reader.cancel().catch(() => {});
    }
    if (!ended) throw new Failure('The server ended without a result.', { hint: 'Perhaps it is being restarted.' });
  }

  // What a person is told of a failure; `again` repeats what failed.
  function explain(error, again) {
    if (error.name === 'AbortError') return;
    if (error.status === 401 || error.status === 403) { askForToken(again); return; }
    if (!(error instanceof Failure)) console.error(error);
    const words = error instanceof Failure ? error.message : 'This page did not understand the server.';
    say(words, { more: error.hint || '', bad: true, buttons: error.status === 400 || error.status === 413 ? [] : [['Try again', again]] });
    tell(`${words} ${error.hint || ''}`);
  }

  // --- the film ---
  // Shows frames 0, 1, ...: as they come, played again, or one by one.
  //   show(n)  draws frame n;  rest()  is called where the film ends
  function player({ show, rest, name }) {
    const slider = $('step');
    let count = 0, at = -1, timer = 0, live = false, frame = kFrame;
    const last = () => count - 1;
    function go(n) {
      at = Math.max(0, Math.min(n, last()));
      slider.value = at;
      const words = name(at);
      $('where').textContent = words;
      slider.setAttribute('aria-valuetext', words);
      $('back').disabled = at === 0;
      $('forth').disabled = at === last();
      show(at);
    }
    function label() { $('play').textContent = timer && !live ? 'Pause' : 'Play'; $('play').disabled = live || count < 2; }
    function halt() { clearTimeout(timer); timer = 0; label(); }
    function tick() {
      timer = 0;
      if (at < last()) { go(at + 1); timer = setTimeout(tick, at === 0 ? Math.max(frame, kFirst) : frame); } else if (!live) { label(); rest?.(); return; }
      label();
    }
    function start(every) { frame = every; if (!timer) timer = setTimeout(tick, at < 0 ? 0 : frame); label(); }
    const player = {
      // Frames come one by one until end().
      begin() { halt(); count = 0; at = -1; live = true; slider.max = 0; label(); },
      grow(n, total) {
        count = n;
        slider.max = Math.max(total, n) - 1;
        if (live) start(kFrame);
      },
      end() {
        live = false;
        slider.max = Math.max(last(), 0);
        if (calm.matches) { halt(); go(last()); rest?.(); } else if (!timer) start(kFrame); else label();
      },
      seek(n) { if (!count || live) return; halt(); go(n); },
      step(by) { player.seek(at + by); },
      toggle() {
        if (live || count < 2) return;
        if (timer) { halt(); return; }
        if (at === last()) go(0);
        start(Math.max(kFrame, Math.min(400, 1500 / count)));
      },
      again() { if (at >= 0) go(at); },
      get at() { return at; },
      get count() { return count; },
      get live() { return live; },
    };
    slider.addEventListener('input', () => { if (live) slider.value = at; else player.seek(+slider.value); });
    $('play').addEventListener('click', player.toggle);
    $('back').addEventListener('click', () => player.step(-1));
    $('forth').addEventListener('click', () => player.step(1));
    document.addEventListener('keydown', (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest('input,textarea,select,dialog')) return;
      const act = {
        ' ': () => player.toggle(), ArrowLeft: () => player.step(-1), ArrowRight: () => player.step(1),
        Home: () => player.seek(0), End: () => player.seek(last()),
      }[event.key];
      if (!act || !count || (event.key === ' ' && event.target.closest('button,summary,a'))) return;
      event.preventDefault();
      act();
    });
    return player;
  }

  // --- choices ---
  function onTheme(act) {
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', act);
    new MutationObserver(act).observe(document.documentElement, { attributeFilter: ['data-theme'] });
  }
  // Shows beside every slider what it says, and the sliders where they are wanted.
  function tieSliders() {
    $('adjust').addEventListener('click', () => {
      $('settings').hidden = !$('settings').hidden;
      $('adjust').setAttribute('aria-expanded', !$('settings').hidden);
    });
    for (const output of document.querySelectorAll('.sliders output')) {
      const slider = $(output.htmlFor.value);
      const write = () => { output.textContent = slider.value; };
      slider.addEventListener('input', write);
      slider.addEventListener('change', write);
      write();
    }
  }
  // Sets a slider within its limits.
  function set(slider, value) {
    if (!Number.isFinite(+value)) return;
    slider.value = value;
    slider.dispatchEvent(new Event('change'));
  }
  // Choice of a model, where there are several.
  function offer(found, title, chosen) {
    const select = $('model');
    select.replaceChildren(...found.map((model) => new Option(title(model), model.id)));
    if (found.some((model) => model.id === chosen)) select.value = chosen;
    $('models').hidden = found.length < 2;
  }
  async function copy(text, button) {
    const name = button.textContent;
    let done = true;
    try {
      await navigator.clipboard.writeText(text);
    } catch (e) {  // only pages of https or of this machine may
      const field = document.createElement('textarea');
      field.value = text;
      field.className = 'unseen';
      document.body.append(field);
      field.select();
      done = document.execCommand('copy');
      field.remove();
      button.focus();
    }
    button.textContent = done ? 'Copied' : 'Not allowed';
    tell(done ? 'Copied' : 'The browser does not allow copying here.');
    setTimeout(() => { button.textContent = name; }, 1600);
  }

  return { $, calm, say, tell, models, stream, explain, player, onTheme, tieSliders, set, offer, copy };
})();
