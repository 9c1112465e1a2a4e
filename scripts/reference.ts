/** `npm run reference`: writes docs/reference from what the plugins declare. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { renderReferencePages } from './reference/pages.ts';

const FOLDER = new URL('../docs/reference/', import.meta.url);

mkdirSync(FOLDER, { recursive: true });
for (const [name, text] of await renderReferencePages()) {
  writeFileSync(new URL(name, FOLDER), text);
  console.log(`docs/reference/${name}`);
}
