import { globSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const folder = fileURLToPath(new URL('programs/', import.meta.url));

/** What must become of a hostile program, beside not getting out. */
export type Expectation =
  /** It is refused when it is loaded, with this code where one is named. */
  | { readonly kind: 'refused'; readonly code: string | undefined }
  /** Its call fails: with 500 or 503. */
  | { readonly kind: 'fails' }
  | { readonly kind: 'status'; readonly status: number }
  /** It is answered, whatever with. */
  | { readonly kind: 'answered' };

/** One file of `programs/<group>/`: a confined endpoint that wants out. */
export interface HostileProgram {
  /** `<group>-<file>`: its id, and the path under which it answers. */
  readonly id: string;
  readonly group: string;
  /** Its first line. */
  readonly about: string;
  readonly text: string;
  readonly capabilities: Readonly<Record<string, unknown>>;
  readonly expectation: Expectation;
}

/**
 * All of them. Below its first line a program says what it declares (`// @capabilities {…}`) and what must become of it
 * (`// @expect fails`, `refused CODE`, `status N`); without that its answer only must not say `ESCAPED`.
 */
export function hostilePrograms(): readonly HostileProgram[] {
  return globSync('*/*.js', { cwd: folder })
    .sort()
    .map((path) => {
      const text = readFileSync(join(folder, path), 'utf8');
      const tags = new Map([...text.matchAll(/^\/\/ @(\w+) (.+)$/gm)].map(([, name, value]) => [name, value]));
      const group = dirname(path);
      return {
        id: `${group}-${basename(path, '.js')}`,
        group,
        about: (text.split('\n', 1)[0] as string).replace('// ', ''),
        text,
        capabilities: JSON.parse(tags.get('capabilities') ?? '{}'),
        expectation: expectationOf(tags.get('expect')),
      };
    });
}

function expectationOf(text = 'answered'): Expectation {
  const [kind, value] = text.split(' ');
  switch (kind) {
    case 'refused':
      return { kind, code: value };
    case 'fails':
      return { kind };
    case 'status':
      return { kind, status: Number(value) };
    default:
      return { kind: 'answered' };
  }
}
