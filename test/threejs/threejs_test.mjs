// Bakes a scene and looks at it in examples/threejs with headless Chromium: node threejs_test.mjs BAKER EXAMPLE.
// Exit status 77: something that it needs is missing.
//
// Squares are tilted, so that a sun gives each another irradiance: E = sun * cosine. A lightmap whose rows are upside
// down, or of another UV set, colour space or unit (E / pi), or a sun that shines twice, makes them another colour. So
// would a page that takes metals or reflections for the baker's surfaces.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const [baker, example] = process.argv.slice(2).map((path) => resolve(path));

function skip(reason) {
  console.log(`skipped: ${reason}`);
  process.exit(77);
}
if (!existsSync(join(example, 'node_modules/playwright-core'))) skip(`run npm install in ${example}`);
const browser = [process.env.CHROMIUM, '/usr/bin/chromium', '/usr/bin/google-chrome'].find((path) => existsSync(path ?? ''));
if (!browser) skip('there is no Chromium; install it, or name it in the environment variable CHROMIUM');
const { chromium } = createRequire(join(example, 'package.json'))('playwright-core');
const { serve } = await import(pathToFileURL(join(example, 'serve.js')).href);

const SIZE = 200; // of the picture
// squares.gltf has these: middles at x, y; tilted by degrees about X; each in a cell of 3 x 2 of the lightmap, in this
// order. A camera shows -2 .. 2, and a sun shines.
const SUN = [2.8, 2.2, 1.6];
const TO_LIGHT = [0.3, 0.4, Math.sqrt(0.75)];
const SQUARES = [
  { x: -1, y: 1, tilt: 0, colour: [0.9, 0.9, 0.9] },
  { x: 1, y: 1, tilt: -50, colour: [0.6, 0.8, 0.9] },
  { x: -1, y: -1, tilt: 30, colour: [0.5, 0.5, 0.5] }, // of metal
  { x: 1, y: -1, tilt: -25, colour: [0.2, 0.1, 0.05], emission: [0.05, 0.2, 0.4] },
];
const normalOf = ({ tilt }) => [0, -Math.sin((tilt * Math.PI) / 180), Math.cos((tilt * Math.PI) / 180)];

// ---- What is shown

const srgb = (x) => 255 * (x <= 0.0031308 ? 12.92 * x : 1.055 * x ** (1 / 2.4) - 0.055);

// `step`: that of the lightmap.
function range(square, channel, step) {
  const cosine = normalOf(square).reduce((sum, n, i) => sum + n * TO_LIGHT[i], 0);
  const shown = (light) => srgb((square.colour[channel] * light) / Math.PI + (square.emission?.[channel] ?? 0));
  const light = SUN[channel] * cosine;
  return [shown(light - step) - 1, shown(light + step) + 1];
}

async function pixels(page) {
  const picture = (await page.screenshot()).toString('base64');
  return page.evaluate(async ({ picture, size }) => {
    const image = await createImageBitmap(await (await fetch(`data:image/png;base64,${picture}`)).blob());
    const context = new OffscreenCanvas(size, size).getContext('2d');
    context.drawImage(image, 0, 0);
    return Array.from(context.getImageData(0, 0, size, size).data);
  }, { picture, size: SIZE });
}

const folder = mkdtempSync(join(tmpdir(), 'quadtile_threejs_'));
const server = await serve([folder], 0);
let chrome;
try {
  const bake = (...options) => execFileSync(baker, [
    fileURLToPath(new URL('squares.gltf', import.meta.url)), '-q', '--reference', '--direct-samples', '8', '--sun-samples', '8',
    ...options], { stdio: ['ignore', 'ignore', 'pipe'] });
  bake('-o', join(folder, 'scene.glb'), '--bounces', '0');
  bake('-o', join(folder, 'half.glb'), '--half', '--bounces', '0');
  const half = readFileSync(join(folder, 'half.glb')); // its PNG, for other readers, is damaged here
  writeFileSync(join(folder, 'half.glb'), half.fill(0, half.indexOf('PNG'), half.indexOf('PNG') + 3));
  bake('-o', join(folder, 'irradiance.exr'), '--bounces', '0');
  const report = join(folder, 'report.json');
  bake('-o', join(folder, 'light.png'), '--bounces', '0', '--report', report);
  const rgbm = `&lightmap=light.png&range=${JSON.parse(readFileSync(report)).rgbm_range}`;
  bake('-o', join(folder, 'radiance.exr'), '--quantity', 'radiance', '--half', '--bounces', '0');
  bake('-o', join(folder, 'occlusion.exr'), '--quantity', 'ambient-occlusion');

  chrome = await chromium.launch({
    executablePath: browser,
    args: ['--no-sandbox', '--disable-quic', '--force-color-profile=srgb', '--use-angle=swiftshader', '--enable-unsafe-swiftshader'],
  });
  const page = await chrome.newPage({ viewport: { width: SIZE, height: SIZE } });
  const problems = [];
  page.on('console', (message) => ['error', 'warning'].includes(message.type()) && problems.push(message.text()));
  const open = async (query, scene = 'scene.glb') => {
    await page.goto(`http://127.0.0.1:${server.address().port}/?scene=${scene}&tonemapping=none${query}`);
    await page.waitForFunction(() => /Error/.test(document.body.innerText) || !document.getElementById('message'));
    return page.evaluate(() => document.body.innerText);
  };
  // The 8-bit lightmap's brightest light is 255 steps.
  const brightest = Math.max(...SUN);
  for (const [query, step, scene] of [['', brightest / 255], ['', 0.002 * brightest, 'half.glb'], [rgbm, 0.003 * brightest],
    ['&lightmap=irradiance.exr', 0.002 * brightest], ['&lightmap=radiance.exr', 0.002 * brightest]]) {
    assert.equal(await open(query, scene), '', query);
    const shown = await pixels(page);
    for (const square of SQUARES) {
      const x = Math.round((SIZE / 2) * (1 + square.x / 2));
      const y = Math.round((SIZE / 2) * (1 - square.y / 2));
      const colour = shown.slice(4 * (y * SIZE + x), 4 * (y * SIZE + x) + 3);
      colour.forEach((value, channel) => {
        const [low, high] = range(square, channel, step);
        assert.ok(value >= low && value <= high,
          `${query || scene || 'MOZ_lightmap'}: square ${SQUARES.indexOf(square)}: ${colour}, channel ${channel} not in ${low} .. ${high}`);
      });
    }
  }
  assert.match(await open('&lightmap=occlusion.exr'), /ambient-occlusion/);
  assert.match(await open('&lightmap=missing.exr'), /404/);
  problems.splice(0, problems.length, ...problems.filter((text) => !/404|GPU stall|GL Driver Message/.test(text)));
  assert.deepEqual(problems, []);
  console.log('1 passed, 0 failed');
} finally {
  await chrome?.close();
  server.close();
  rmSync(folder, { recursive: true });
}
