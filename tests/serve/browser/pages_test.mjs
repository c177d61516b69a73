// The web pages of the server in Chromium.
//   node pages_test.mjs --writer WRITE_PAGES --modules FOLDER [--program TESSERA --model FOLDER] [--only PATTERN] [--shots FOLDER]
//   --writer   program that writes the pages
//   --modules  folder in which npm has put playwright-core
//   --program  also against `tessera serve` with this model
//   --shots    where to leave pictures of the pages
// Ends with 77 where there is no Chromium or no playwright-core.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { answer, kModels, sentence, startMock } from './mock_server.mjs';

const { values: options } = parseArgs({ options: Object.fromEntries(['writer', 'modules', 'program', 'model', 'only', 'shots'].map((name) => [name, { type: 'string' }])) });
const skip = (why) => { console.log(`skipped: ${why}`); process.exit(77); };
const executablePath = [process.env.CHROMIUM, '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find((path) => path && existsSync(path));
if (!executablePath) skip('there is no Chromium (CHROMIUM names another one)');
const { chromium } = (() => {
  try {
    return createRequire(resolve(options.modules, 'modules.js'))('playwright-core');
  } catch (error) {
    return skip(`npm install --prefix ${options.modules} playwright-core`);
  }
})();

const folder = mkdtempSync(join(tmpdir(), 'tessera-pages-'));
execFileSync(options.writer, [folder]);
const pages = [join(folder, 'index.html'), join(folder, 'images.html')];
if (options.shots) mkdirSync(options.shots, { recursive: true });
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run',
  '--disable-background-networking', '--disable-component-update', '--disable-sync'] });

const tests = [];
const test = (name, act) => tests.push([name, act]);
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));
async function until(what, act, limit = 30000) {
  const end = Date.now() + limit;
  for (;;) {
    const found = await act();
    if (found) return found;
    if (Date.now() > end) assert.fail(`not within ${limit} ms: ${what}`);
    await sleep(15);
  }
}
const text = (page, selector) => page.locator(selector).evaluate((element) => element.textContent.trim());
const settled = (page) => until('a result', async () => /candidate|picture/.test(await text(page, '#facts')) && await text(page, '#where').catch(() => 'result') === 'result');
const shot = async (page, name, full = false) => { if (options.shots) await page.screenshot({ path: join(options.shots, `${name}.png`), fullPage: full }); };

// A page that is at `address`, and fails where it says an error, or asks anybody else.
//   refused  whether answers other than 200 are expected
async function open(address, { refused = false, ...context } = {}) {
  const page = await (await browser.newContext({ viewport: { width: 1280, height: 860 }, ...context })).newPage();
  const wrong = [];
  page.on('console', (message) => {
    if (message.type() === 'error' && !(refused && message.text().startsWith('Failed to load resource'))) wrong.push(message.text());
  });
  page.on('pageerror', (error) => wrong.push(String(error)));
  page.on('dialog', (dialog) => { wrong.push(`dialog ${dialog.message()}`); dialog.dismiss(); });
  page.on('request', (request) => {
    if (!request.url().startsWith(new URL(address).origin) && !request.url().startsWith('data:')) wrong.push(`asks ${request.url()}`);
  });
  page.done = async () => { assert.deepEqual(wrong, []); await page.context().close(); };
  await page.goto(address);
  return page;
}
const ready = (page) => until('a button', async () => /Translate|Generate|Make/.test(await text(page, '#go')));
async function withMock(settings, act) {
  const mock = await startMock({ pages, ...settings });
  try { await act(mock); } finally { mock.stop(); }
}
// Notes what is seen of an element from now on; seenOf() has it: [[ms, text], ...].
const note = (page, selector) => page.evaluate((selector) => {
  const element = document.querySelector(selector), seen = window.seen = [];
  new MutationObserver(() => {
    const now = element.textContent.trim();
    if (now && now !== seen.at(-1)?.[1]) seen.push([performance.now(), now]);
  }).observe(element, { subtree: true, childList: true, characterData: true });
}, selector);
const seenOf = (page) => page.evaluate(() => window.seen);

test('types a sentence, sees it condense, and gets the result', () => withMock({ pause: 60 }, async (mock) => {
  const page = await open(mock.address);
  await ready(page);
  assert.equal(await page.inputValue('#q'), sentence);  // an example is there
  await page.fill('#q', 'Zwei Hunde spielen heute im Schnee.');
  await shot(page, 'first');
  await note(page, '#rows');
  await page.keyboard.press('Enter');
  await settled(page);
  const seen = await seenOf(page);
  assert.ok(seen.length >= 5, `${seen.length} different steps`);
  assert.ok(seen.at(-1)[0] - seen[0][0] > 600, 'steps are spread over time');
  assert.equal(await text(page, '#answer'), answer);
  assert.equal(await text(page, '#told'), `Result: ${answer}`);
  const { body } = mock.asked.find(({ path }) => path === '/v1/translate');
  assert.deepEqual(body, { q: 'Zwei Hunde spielen heute im Schnee.', model: 'captions', split: false, steps: 20, candidates: '5x1', stream: true });
  assert.equal(await page.locator('.candidate').count(), 5);
  assert.equal(await page.locator('.candidate.chosen').count(), 1);
  assert.equal(await page.locator('.candidate').first().getAttribute('class'), 'candidate chosen');
  assert.match(await text(page, '.candidate.chosen .scores'), /agreement\d+confidence\d+ %/);
  assert.match(await text(page, '#attribution'), /captions that somebody wrote/);
  await shot(page, 'result');
  await page.done();
}));

test('goes back through the steps, with slider, buttons and keys', () => withMock({ pause: 5 }, async (mock) => {
  const page = await open(mock.address);
  await ready(page);
  await page.click('#go');
  await settled(page);
  const end = await text(page, '#rows');
  await page.focus('#stage-title').catch(() => {});
  await page.locator('#stage-title').click();
  await page.keyboard.press('Home');
  assert.equal(await text(page, '#where'), 'noise');
  assert.notEqual(await text(page, '#rows'), end);
  assert.ok(await page.locator('#rows .tile.loose').count() > 20);
  await page.keyboard.press('ArrowRight');
  assert.equal(await text(page, '#where'), 'step 1 of 20');
  assert.ok(await page.locator('#rows .tile.struck').count() > 0);
  await page.click('#forth');
  assert.equal(await text(page, '#where'), 'step 2 of 20');
  await page.click('#back');
  assert.equal(await text(page, '#where'), 'step 1 of 20');
  await page.locator('#step').fill('12');
  assert.equal(await text(page, '#where'), 'step 12 of 20');
  assert.equal(await page.getAttribute('#step', 'aria-valuetext'), 'step 12 of 20');
  const noise = () => page.locator('#rows .tile.loose').first().evaluate((tile) => getComputedStyle(tile, '::after').content);
  assert.match(await noise(), /data-noise|"\w+"/);
  await page.locator('#stage-title').click();
  await page.keyboard.press('n');
  assert.equal(await noise(), 'none');
  await page.keyboard.press('n');
  assert.notEqual(await noise(), 'none');
  await page.locator('.pick').nth(2).click();
  assert.equal(await page.locator('.pick').nth(2).getAttribute('aria-pressed'), 'true');
  await page.locator('#stage-title').click();
  await page.keyboard.press('End');
  assert.equal(await text(page, '#rows'), end);
  assert.notEqual(await text(page, '#answer'), answer, 'that of the row that was picked');
  await note(page, '#rows');
  await page.keyboard.press(' ');
  await until('the end of the film', async () => await text(page, '#where') === 'result' && await text(page, '#play') === 'Play');
  assert.ok((await seenOf(page)).length >= 5);
  assert.equal(await text(page, '#rows'), end);
  const box = await page.locator('#strip').boundingBox();
  await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
  assert.match(await text(page, '#where'), /^step 1[01] of 20$/);
  await page.done();
}));

test('can be used with the keyboard alone', () => withMock({ pause: 2 }, async (mock) => {
  const page = await open(mock.address);
  await ready(page);
  await page.evaluate(() => document.activeElement.blur());
  const reached = [];
  const tab = async () => {
    await page.keyboard.press('Tab');
    reached.push(await page.evaluate(() => {
      const { activeElement: at } = document;
      const outline = getComputedStyle(at.closest('.segments label') ?? at).outlineStyle;
      return { id: at.id || at.name || at.className || at.tagName, visible: outline !== 'none' || at.id === 'q' };
    }));
  };
  for (let k = 0; k < 12; ++k) await tab();
  for (const id of ['theme', 'q', 'go', 'model', 'preset', 'adjust']) assert.ok(reached.some((at) => at.id === id), `${id} in ${JSON.stringify(reached)}`);
  assert.ok(reached.every(({ id, visible }) => visible || id === 'BODY'), JSON.stringify(reached));
  await page.focus('#q');
  await page.keyboard.press('Enter');
  await settled(page);
  reached.length = 0;
  for (let k = 0; k < 20; ++k) await tab();
  for (const id of ['copy', 'share', 'noise', 'pick', 'play', 'back', 'step']) assert.ok(reached.some((at) => at.id === id), `${id} in ${JSON.stringify(reached)}`);
  await page.keyboard.press('/');
  assert.equal(await page.evaluate(() => document.activeElement.id), 'q');
  await page.focus('input[name=preset]:checked');
  await page.keyboard.press('ArrowRight');
  assert.equal(await page.inputValue('#steps'), '2');
  assert.equal(await page.inputValue('#lengths'), '3');
  await page.done();
}));

test('says what it is to a screen reader', () => withMock({ pause: 2 }, async (mock) => {
  const page = await open(mock.address);
  await ready(page);
  const before = await page.locator('body').ariaSnapshot();
  for (const part of ['heading "Watch a sentence condense" [level=1]', 'textbox "German"', 'button "Translate"', 'group "How much work"',
    'radio "Watch" [checked]', 'combobox "Model"', 'navigation "Pages"', 'region "Your sentence"', 'region "Out of noise"', 'status'])
    assert.ok(before.includes(part), `${part} in\n${before}`);
  await page.click('#go');
  await settled(page);
  const after = await page.locator('body').ariaSnapshot();
  for (const part of ['slider "Step"', 'button "Candidate 1, chosen" [pressed]', 'button "Candidate 2"', `status: "Result: ${answer}"`, 'button "One step back"', 'Two dogs are'])
    assert.ok(after.includes(part), `${part} in\n${after}`);
  const other = await open(`${mock.address}/images`);
  await ready(other);
  await other.click('#go');
  await settled(other);
  const images = await other.locator('body').ariaSnapshot();
  for (const part of ['heading "Watch pictures condense" [level=1]', 'combobox "Of"', 'group "Pictures"', 'button "Picture 1: ship" [pressed]', 'slider "Step"', 'radio "What the network sees" [checked]'])
    assert.ok(images.includes(part), `${part} in\n${images}`);
  await page.done();
  await other.done();
}));

test('is light and dark, as the system or the reader wants', () => withMock({ pause: 2 }, async (mock) => {
  const paper = (page) => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  for (const [scheme, colour, name] of [['light', 'rgb(251, 249, 245)', 'Dark'], ['dark', 'rgb(22, 23, 26)', 'Light']]) {
    const page = await open(mock.address, { colorScheme: scheme });
    await ready(page);
    assert.equal(await paper(page), colour);
    assert.equal(await text(page, '#theme'), name);
    await page.click('#go');
    await settled(page);
    await shot(page, `result-${scheme}`);
    const tile = () => page.locator('#rows .tile').first().evaluate((element) => getComputedStyle(element).backgroundColor);
    const first = await tile();
    await page.click('#theme');
    await until('other colours', async () => await paper(page) !== colour && await tile() !== first);
    await page.reload();
    assert.notEqual(await paper(page), colour, 'the choice is kept');
    await page.done();
  }
}));

test('fits a phone', () => withMock({ pause: 2, echo: true }, async (mock) => {
  const fits = (page) => page.evaluate(() => document.documentElement.scrollWidth <= innerWidth);
  for (const path of ['/', '/images']) {
    const page = await open(mock.address + path, { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true });
    await ready(page);
    assert.ok(await fits(page), path);
    if (path === '/')
      await page.fill('#q', 'Ein Mann mit Donaudampfschifffahrtsgesellschaftskapitänsmützenabzeichen, der schon lange an einem kalten Morgen wartet, erzählt einem Kind in der Reihe eine sehr lange Geschichte von Hunden im Schnee.');
    await page.tap('#go');
    await settled(page);
    assert.ok(await fits(page), `${path} with a result`);
    await page.tap('#adjust');
    assert.ok(await fits(page), `${path} with sliders`);
    const small = await page.locator('button:visible, select:visible').evaluateAll((all) => all.map((one) => [one.id || one.className, one.getBoundingClientRect().height]).filter(([, height]) => height < 31));
    assert.deepEqual(small, [], 'large enough for a finger');
    await shot(page, path === '/' ? 'phone' : 'phone-images', true);
    await page.done();
  }
}));

test('does not move where that is not wanted', () => withMock({ pause: 30 }, async (mock) => {
  const page = await open(mock.address, { reducedMotion: 'reduce' });
  await ready(page);
  await page.click('#go');
  await until('steps', () => page.locator('#film').isVisible());
  for (let k = 0; k < 10; ++k) { assert.equal(await page.evaluate(() => document.getAnimations().length), 0); await sleep(30); }
  await settled(page);
  assert.equal(await page.evaluate(() => document.getAnimations().length), 0);
  await page.done();
}));

test('says how many wait, asks a full server again, and stops when told', () => withMock({ pause: 20, queue: 12 }, async (mock) => {
  const page = await open(mock.address, { refused: true });
  await ready(page);
  mock.refusals = [{ status: 429, body: { error: 'the queue is full', hint: '' }, headers: { 'Retry-After': '1' } }];
  await page.click('#go');
  await until('a countdown', async () => /Asking again in 1 s/.test(await text(page, '#notice')));
  await until('a place in the queue', async () => /12 texts are before yours/.test(await text(page, '#notice')));
  await shot(page, 'waiting');
  await settled(page);
  assert.equal(mock.asked.filter(({ path }) => path === '/v1/translate').length, 2);
  mock.pause = 400;
  await page.click('#go');
  await until('steps', async () => /step \d+ of/.test(await text(page, '#where')));
  assert.equal(await text(page, '#go'), 'Stop');
  await page.click('#go');
  await until('the server to notice', () => mock.left === 1);
  assert.equal(await text(page, '#go'), 'Translate');
  await page.done();
}));

test('says what went wrong', () => withMock({ pause: 5 }, async (mock) => {
  const page = await open(mock.address, { refused: true });
  await ready(page);
  const said = async (words, button) => {
    await until(words, async () => (await text(page, '#notice')).includes(words));
    assert.equal(await page.locator('#notice button').count(), button ? 1 : 0);
  };
  mock.refusals = [{ status: 400, body: { error: 'too many steps', hint: 'at most 500' } }];
  await page.click('#go');
  await said('too many steps');
  await said('at most 500');
  await shot(page, 'error');
  mock.refusals = [{ status: 503, body: { error: 'the server is closing', hint: '' } }];
  await page.click('#go');
  await said('cannot take this now', true);
  mock.refusals = [{ status: 500, body: { error: 'internal', id: 'f00d' } }];
  await page.click('#go');
  await said('f00d', true);
  mock.broken = 4;
  await page.click('#go');
  await said('ended without a result', true);
  assert.match(await text(page, '#where'), /^(noise|step \d of 20)$/, 'the steps that came can be seen');
  mock.broken = 0;
  mock.fails = true;
  await page.click('#notice button');
  await said('the server is closing', true);
  mock.fails = false;
  await page.fill('#q', '   ');
  await page.click('#go');
  await said('Type a sentence first.');
  mock.stop();
  await page.fill('#q', 'Ein Satz.');
  await page.click('#go');
  await said('does not answer', true);
  await page.done();
}));

test('asks for the token once, and keeps it for the session', () => withMock({ token: 'sesame', pause: 2 }, async (mock) => {
  const page = await open(mock.address, { refused: true });
  await until('a question', () => page.locator('#token-form').isVisible());
  await shot(page, 'token');
  await page.fill('#token', 'wrong');
  await page.keyboard.press('Enter');
  await until('another question', async () => /did not take this token/.test(await text(page, '#token-words')) && await page.locator('#token-form').isVisible());
  await page.fill('#token', 'sesame');
  await page.keyboard.press('Enter');
  await ready(page);
  await page.click('#go');
  await settled(page);
  assert.equal(await page.locator('#token-form').isVisible(), false);
  await page.goto(`${mock.address}/images`);
  await ready(page);
  assert.equal(await page.locator('#token-form').isVisible(), false, 'kept');
  assert.equal(await page.evaluate(() => JSON.stringify({ ...localStorage }) + document.cookie + location.href).then((all) => all.includes('sesame')), false);
  await page.done();
}));

test('waits for a server that is loading', () => withMock({ pause: 2, refusals: [{ status: 503, body: { error: 'loading', hint: '' }, headers: { 'Retry-After': '1' } }] }, async (mock) => {
  const page = await open(mock.address, { refused: true });
  await until('patience', async () => /Asking again/.test(await text(page, '#notice')));
  assert.ok(await page.locator('#go').isDisabled());
  await ready(page);
  await page.done();
}));

test('leaving the page ends the work', () => withMock({ pause: 300 }, async (mock) => {
  const page = await open(mock.address);
  await ready(page);
  await page.click('#go');
  await until('steps', () => page.locator('#film').isVisible());
  await page.goto(`${mock.address}/images`);
  await until('the server to notice', () => mock.left === 1);
  await page.done();
}));

test('the address holds what was asked', () => withMock({ pause: 2 }, async (mock) => {
  const page = await open(mock.address);
  await ready(page);
  await page.fill('#q', 'Käse & „Brot“ = gut?');
  await page.locator('#adjust').click();
  await page.locator('#steps').fill('7');
  await page.selectOption('#model', 'masks');
  await page.click('#go');
  await settled(page);
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.click('#share');
  const address = await page.evaluate(() => navigator.clipboard.readText());
  await page.click('#copy');
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), answer);
  mock.asked.length = 0;
  const other = await open(address);
  await settled(other);
  assert.equal(await other.inputValue('#q'), 'Käse & „Brot“ = gut?');
  const { body } = mock.asked.find(({ path }) => path === '/v1/translate');
  assert.deepEqual([body.q, body.model, body.steps, body.candidates], ['Käse & „Brot“ = gut?', 'masks', 7, '5x1']);
  await page.done();
  await other.done();
}));

test('shows masks as masks, and models without steps as they are', () => withMock({ pause: 30 }, async (mock) => {
  const page = await open(mock.address);
  await ready(page);
  await page.selectOption('#model', 'masks');
  await page.click('#go');
  await until('masks', async () => (await text(page, '#answer')).includes('□'));
  await settled(page);
  assert.ok(!(await text(page, '#rows')).includes('□'));
  await page.selectOption('#model', 'autoregressive');
  assert.equal(await page.locator('#presets').isVisible(), false);
  assert.equal(await text(page, '#go'), 'Generate');
  await page.fill('#q', 'a line');
  await page.click('#go');
  await until('a result', async () => await text(page, '#answer') === answer);
  assert.equal(await page.locator('#film').isVisible(), false);
  assert.equal(await page.locator('.candidate').count(), 3);
  assert.equal(mock.asked.at(-1).body.steps, undefined);
  await page.done();
}));

test('text is never markup', () => withMock({ pause: 2, echo: true, models: [{ ...kModels[0], id: '<b>model</b>', attribution: '<img src=x onerror=alert(1)>' }, kModels[3]] }, async (mock) => {
  const page = await open(mock.address);
  await ready(page);
  const evil = '<img src=x onerror=alert(1)> <script>alert(2)</script> ${alert(3)}';
  await page.fill('#q', evil);
  await page.click('#go');
  await settled(page);
  assert.equal(await text(page, '#answer'), evil);
  assert.equal(await page.locator('main img, main script, main b:not(.scores b), footer img').count(), 0);
  await page.done();
}));

test('pictures come out of noise', () => withMock({ pause: 40 }, async (mock) => {
  const page = await open(`${mock.address}/images`);
  await ready(page);
  const pixels = () => page.locator('#gallery canvas').first().evaluate((canvas) => canvas.toDataURL());
  await page.click('#go');
  await settled(page);
  const seen = new Set();
  for (let step = 0; step <= 20; step += 4) { await page.locator('#step').fill(String(step)); seen.add(await pixels()); }
  assert.ok(seen.size >= 4, `${seen.size} different pictures`);
  await page.locator('#step').fill('21');
  assert.equal(await page.locator('#gallery canvas').count(), 4);
  const last = await pixels();
  await page.locator('#stage-title').click();
  await page.keyboard.press('Home');
  assert.notEqual(await pixels(), last);
  assert.equal(await page.locator('#reel [aria-current]').count(), 1);
  await page.keyboard.press('End');
  assert.equal(await pixels(), last);
  const given = page.getByText('What it is given');
  await page.keyboard.press('ArrowLeft');
  const estimate = await pixels();
  await given.click();
  assert.notEqual(await pixels(), estimate);
  await page.locator('#gallery button').nth(1).click();
  assert.equal(await page.locator('#gallery button').nth(1).getAttribute('aria-pressed'), 'true');
  for (const [id, width] of [['#save', 32], ['#save-all', 264]]) {
    const [download] = await Promise.all([page.waitForEvent('download'), page.click(id)]);
    assert.match(download.suggestedFilename(), /^pictures-1-(2|all)\.png$/);
    const { readFileSync } = await import('node:fs');
    const png = readFileSync(await download.path());
    assert.equal(png.subarray(1, 4).toString(), 'PNG');
    assert.equal(png.readUInt32BE(16), width);
  }
  await shot(page, 'images', true);
  await page.selectOption('#class', 'frog');
  await page.getByText('9', { exact: true }).click();
  await page.click('#go');
  await until('nine pictures', async () => /9 pictures/.test(await text(page, '#facts')));
  const { body } = mock.asked.at(-1);
  assert.deepEqual([body.label, body.count, body.seed, body.stream], ['frog', 9, 1, true]);
  await page.click('#go');
  await until('other noise', () => mock.asked.at(-1).body.seed === 2);
  await page.done();
}));

if (options.program) test('against the program itself', async () => {
  const server = spawn(options.program, ['serve', options.model, '--port', '0'], { stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    const address = await new Promise((found, failed) => {
      let said = '';
      server.stdout.on('data', (part) => { said += part; const at = /https?:\/\/[\w.:[\]]+/.exec(said); if (at && said.includes('\n')) found(at[0]); });
      server.on('exit', (code) => failed(new Error(`the server ended with ${code}`)));
    });
    const line = process.env.TESSERA_TEST_LINE || 'the third of march, 1987';
    const wanted = execFileSync(options.program, ['generate', options.model, '--steps', '20', '--candidates', '5x1'], { input: `${line}\n`, stdio: ['pipe', 'pipe', 'ignore'] }).toString().trim();
    const page = await open(address);
    await ready(page);
    await page.fill('#q', line);
    await note(page, '#where');
    await page.keyboard.press('Enter');
    await settled(page);
    const seen = (await seenOf(page)).filter(([, where]) => where.startsWith('step'));
    assert.ok(seen.length >= 2, `${seen.length} steps`);
    assert.ok(seen.at(-1)[0] > seen[0][0]);
    assert.equal(await text(page, '#answer'), wanted);
    await shot(page, 'program');
    await page.done();
  } finally {
    server.kill();
  }
});

let failures = 0;
for (const [name, act] of tests) {
  if (options.only && !name.includes(options.only)) continue;
  const begin = Date.now();
  try {
    await act();
    console.log(`ok      ${name} (${Date.now() - begin} ms)`);
  } catch (error) {
    ++failures;
    console.log(`FAILED  ${name}\n${error.stack}`);
  }
}
await browser.close();
rmSync(folder, { recursive: true });
process.exit(failures ? 1 : 0);
