// Serves this folder and other folders on this machine: node serve.js [FOLDER ...]

import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { dirname, extname, join, resolve, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const TYPES = { '.html': 'text/html', '.js': 'text/javascript' };
const PAGE = dirname(fileURLToPath(import.meta.url));

export function serve(folders, port) {
  const roots = [PAGE, ...folders].map((folder) => resolve(folder) + sep);
  const server = createServer(async (request, response) => {
    const path = new URL(request.url, 'http://localhost').pathname;
    for (const root of roots) {
      try {
        const file = join(root, decodeURIComponent(path === '/' ? '/index.html' : path));
        if (!file.startsWith(root)) continue;
        const bytes = await readFile(file);
        response.writeHead(200, { 'Content-Type': TYPES[extname(file)] ?? 'application/octet-stream' });
        return response.end(bytes);
      } catch {
        // The next folder may have the file.
      }
    }
    response.writeHead(404);
    return response.end();
  });
  return new Promise((listening) => server.listen(port, '127.0.0.1', () => listening(server)));
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const server = await serve(process.argv.slice(2), 8080);
  console.log(`http://localhost:${server.address().port}/?scene=scene_baked.glb`);
}
