import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { fail } from '#kernel';
import { MAIL_LIMITS } from './limits.ts';

const NAME = /^[a-zA-Z0-9][a-zA-Z0-9_-]{0,63}$/;
const OWN_FOLDER = fileURLToPath(new URL('./templates/', import.meta.url));

/** Whether a template may have this name, which is also that of its file. */
export const isTemplateName = (name: unknown): name is string => typeof name === 'string' && NAME.test(name);

/** Reads the source of a template. @throws INVALID_PAYLOAD where there is none of the name, or its file cannot be used. */
export type ReadTemplate = (name: string) => Promise<string>;

/** Reads templates from a folder of the admin, then from our own. Each time anew, so that a change needs no restart. */
export function createTemplateReader(folder: string): ReadTemplate {
  return async (name) => {
    if (!isTemplateName(name)) throw fail('INVALID_PAYLOAD', 'This is no name of a mail template.');
    for (const place of [folder, OWN_FOLDER]) {
      const source = await readTemplateFile(join(place, `${name}.liquid`));
      if (source !== undefined) return source;
    }
    throw fail('INVALID_PAYLOAD', `There is no mail template "${name}". Put ${name}.liquid into EMAIL_TEMPLATES_PATH.`);
  };
}

/** The text of a regular file of bounded size; undefined where there is none. */
async function readTemplateFile(path: string): Promise<string | undefined> {
  try {
    // Without O_NONBLOCK opening a pipe would wait for a writer.
    const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const about = await handle.stat();
      if (!about.isFile() || about.size > MAIL_LIMITS.template)
        throw fail('INVALID_PAYLOAD', `${path} is no file of at most ${MAIL_LIMITS.template} bytes.`);
      return await handle.readFile('utf8');
    } finally {
      await handle.close();
    }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    if (code === 'INVALID_PAYLOAD') throw error;
    throw fail('INVALID_PAYLOAD', `${path} cannot be read (${code}).`);
  }
}
