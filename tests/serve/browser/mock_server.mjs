// A server that answers as `tessera serve` does, with made-up models: quick, and able to refuse.
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { deflateSync } from 'node:zlib';

const kHorizon = 2000;

// --- sentences ---
export const sentence = 'Zwei Hunde spielen im Schnee.';
const kAnswers = ['Two dogs are playing in the snow.', 'Two dogs play in the snow.', 'Two dogs are playing in snow.',
  'There are two dogs playing in the snow.', 'Two dogs playing in the deep white snow.'];
export const answer = kAnswers[0];
const kNoise = ['umbrella', 'seven', 'of', 'march', 'green', 'whistle', 'she', 'under', 'kit', 'chen', 'because', 'blue', 'ten', 'lamp', 'ran', 'the', 'oak', 'quiet'];
const random = (...key) => {
  let hash = 2166136261;
  for (const sign of key.join('|')) hash = Math.imul(hash ^ sign.codePointAt(0), 16777619);
  hash ^= hash >>> 15;
  return (Math.imul(hash, 2246822507) >>> 8) / 2 ** 24;
};

// Words and marks; a mark, and the second part of a divided word, stand without a blank.
function pieces(text) {
  return text.split(' ').flatMap((word) => {
    const [, stem, mark] = /^(.*?)([.,!?]*)$/.exec(word);
    const parts = stem.length > 6 ? [stem.slice(0, -3), stem.slice(-3)] : [stem];
    return [...parts, ...(mark ? [mark] : [])].map((part, k) => ({ part, glued: k > 0 }));
  });
}
function steps(candidates, number, masked) {
  const rows = candidates.map((text, k) => pieces(text).map((piece, j) => ({
    ...piece, settles: Math.floor(random('settles', k, j) ** 2 * number * 0.8), drops: Math.floor(random('drops', k, j) * number),
  })));
  const estimate = (row, k, n) => row.map(({ part, settles }, j) => (n >= settles ? part
    : kNoise[Math.floor(random('guess', k, j, Math.floor(n / 2)) * kNoise.length)]));
  return Array.from({ length: number }, (_, n) => ({
    step: n + 1, t: kHorizon * (1 - n / number),
    rows: rows.map((row, k) => {
      const now = estimate(row, k, n), before = n ? estimate(row, k, n - 1) : [];
      const loose = row.map(({ drops }) => !masked || n < drops);
      return {
        pieces: now,
        noisy: row.map((_, j) => (!loose[j] ? now[j] : masked ? '□' : kNoise[Math.floor(random('noise', k, j, Math.floor(n / 4)) * kNoise.length)])),
        changed: now.map((word, j) => (word === before[j] ? '0' : '1')).join(''),
        outside: loose.map((is) => (is ? '1' : '0')).join(''),
        glued: row.map(({ glued }) => (glued ? '1' : '0')).join(''),
      };
    }),
  }));
}

// --- pictures ---
function png(width, height, rgb) {
  const table = Array.from({ length: 256 }, (_, n) => { for (let k = 0; k < 8; ++k) n = n & 1 ? 0xedb88320 ^ (n >>> 1) : n >>> 1; return n >>> 0; });
  const chunk = (name, data) => {
    const body = Buffer.concat([Buffer.from(name), data]), framed = Buffer.alloc(body.length + 8);
    framed.writeUInt32BE(data.length, 0);
    body.copy(framed, 4);
    framed.writeUInt32BE((body.reduce((crc, byte) => table[(crc ^ byte) & 255] ^ (crc >>> 8), 0xffffffff) ^ 0xffffffff) >>> 0, body.length + 4);
    return framed;
  };
  const head = Buffer.alloc(13), lines = Buffer.alloc(height * (3 * width + 1));
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, 2, 0, 0, 0], 8);
  for (let y = 0; y < height; ++y)
    for (let x = 0; x < width; ++x) lines.set(rgb(x, y), y * (3 * width + 1) + 1 + 3 * x);
  const parts = [Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), chunk('IHDR', head), chunk('IDAT', deflateSync(lines)), chunk('IEND', Buffer.alloc(0))];
  return Buffer.concat(parts).toString('base64');
}
function picture(number, noise, seed) {
  const tone = (channel) => 60 + 160 * random('tone', seed, number, channel), middle = 10 + 12 * random('middle', seed, number);
  return png(32, 32, (x, y) => [0, 1, 2].map((channel) => {
    const disc = Math.hypot(x - middle, y - 17) < 9 ? tone(channel) : 215 - 3 * y + 20 * channel;
    return Math.max(0, Math.min(255, disc * (1 - noise) + noise * 255 * random(x, y, channel, number, noise)));
  }));
}

// --- the server ---
//   pages      paths of the files for / and /images
//   token      wanted from everybody; none if empty
//   pause      ms between steps
//   queue      how many texts are told to be before a request
//   refusals   what is answered first: [{status, body, headers}], one after the other
//   models     instead of the usual ones
//   broken     the stream ends after so many steps
export const kModels = [
  { id: 'captions', object: 'model', kind: 'text', languages: { source: 'de', target: 'en' }, steps: 2, candidates: '9x1', attribution: 'Trained on captions that somebody wrote.' },
  { id: 'masks', object: 'model', kind: 'text', languages: { source: 'de', target: 'en' }, steps: 2, candidates: '9x1' },
  { id: 'autoregressive', object: 'model', kind: 'text', languages: null, steps: 0, candidates: '' },
  { id: 'pictures', object: 'model', kind: 'images', languages: null, steps: 20, classes: ['ship', 'frog', 'truck'], height: 32, width: 32, channels: 3 },
];
export async function startMock(options) {
  const state = { token: '', pause: 20, queue: 0, refusals: [], models: kModels, broken: 0, asked: [], left: 0, ...options };
  const json = (response, status, body, headers = {}) => {
    response.writeHead(status, { 'Content-Type': 'application/json', ...headers });
    response.end(JSON.stringify(body));
  };
  async function stream(request, response, events) {
    response.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' });
    let gone = false;
    response.on('close', () => { if (!response.writableEnded) { gone = true; ++state.left; } });
    for (const [name, data, wait] of events) {
      await new Promise((go) => setTimeout(go, wait));
      if (gone) return;
      // In two parts: a reader must not expect whole events.
      const text = `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
      response.write(text.slice(0, 25));
      response.write(text.slice(25));
    }
    response.end();
  }
  const waiting = () => (state.queue ? [['queued', { before: state.queue }, 0], ['queued', { before: 0 }, 300]] : []);
  function translate(body, request, response) {
    const model = state.models.find(({ id }) => id === body.model) ?? state.models[0];
    const number = model.steps ? body.steps ?? model.steps : 0;
    const count = model.steps ? (body.candidates ?? model.candidates).split('x').reduce((a, b) => a * b) : 3;
    const texts = Array.from({ length: count }, (_, k) => (state.echo ? body.q : kAnswers[k % kAnswers.length]));
    const chosen = 0, frames = steps(texts, number, model.id === 'masks');
    const candidates = texts.map((text, k) => ({ text, confidence: -0.1 - 0.2 * random('confidence', k), expected_bleu: 90 - 55 * random('bleu', k) - (k ? 15 : 0), length: pieces(text).length + 1 }));
    const events = [...waiting(), ['start', { steps: number, candidates: count, queue_ms: 3 }, state.pause],
      ...frames.map((frame) => ['step', frame, state.pause])];
    const result = { results: [{ text: texts[chosen], chosen, nfe: number, predicted_length: 8, truncated: false, candidates }],
      model: model.id, queue_ms: 3, compute_ms: number * state.pause, batch_texts: 1 };
    if (state.broken) events.splice(1 + state.broken);
    else if (state.fails) events.splice(3, Infinity, ['error', { error: 'the server is closing', hint: 'try again later' }, 5]);
    else events.push(['result', result, 0]);
    return stream(request, response, events);
  }
  function images(body, request, response) {
    const number = body.steps ?? 20, all = Array.from({ length: body.count ?? 1 }, (_, k) => k);
    const events = [...waiting(), ['start', { steps: number, queue_ms: 2 }, 0],
      ...Array.from({ length: number }, (_, n) => ['step', { step: n + 1, t: kHorizon * (1 - n / number), calls: number,
        images: all.map((k) => ({ noisy: picture(k, 1 - n / number, body.seed), seen: picture(k, Math.max(0, 0.9 - 1.5 * n / number), body.seed) })) }, state.pause]),
      ['result', { images: all.map((k) => picture(k, 0, body.seed)), height: 32, width: 32, channels: 3, model: 'pictures', compute_ms: number * state.pause, queue_ms: 2 }, 0]];
    return stream(request, response, events);
  }
  const server = createServer(async (request, response) => {
    const path = request.url.split('?')[0];
    const page = { '/': state.pages[0], '/images': state.pages[1] }[path];
    if (request.method === 'GET' && page) {
      response.writeHead(200, { 'Content-Type': 'text/html; charset=utf-8', 'Content-Security-Policy': "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'; img-src data:" });
      response.end(typeof page === 'function' ? page() : readFileSync(page));
      return;
    }
    let text = '';
    for await (const part of request) text += part;
    const body = text ? JSON.parse(text) : null;
    state.asked.push({ path, body, token: request.headers.authorization });
    if (state.token && request.headers.authorization !== `Bearer ${state.token}`) {
      json(response, request.headers.authorization ? 403 : 401, { error: 'a token is wanted', hint: '' }, { 'WWW-Authenticate': 'Bearer' });
      return;
    }
    const refusal = state.refusals.shift();
    if (refusal) { json(response, refusal.status, refusal.body ?? { error: 'no', hint: '' }, refusal.headers ?? {}); return; }
    if (path === '/v1/models') { json(response, 200, { object: 'list', data: state.models }); return; }
    if (path === '/v1/translate') { await translate(body, request, response); return; }
    if (path === '/v1/images') { await images(body, request, response); return; }
    json(response, 404, { error: 'no such route', hint: '' });
  });
  await new Promise((ready) => server.listen(state.port ?? 0, '127.0.0.1', ready));
  state.address = `http://127.0.0.1:${server.address().port}`;
  state.stop = () => { server.closeAllConnections(); server.close(); };
  return state;
}
