/** `npm run reference`: writes docs/reference from what the plugins declare. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { referencePages } from './reference/pages.ts';

const FOLDER = new URL('../docs/reference/', import.meta.url);

mkdirSync(FOLDER, { recursive: true });
for (const [name, text] of await referencePages()) {
  writeFileSync(new URL(name, FOLDER), text);
  console.log(`docs/reference/${name}`);
}
