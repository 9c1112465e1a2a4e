import { globSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const folder = fileURLToPath(new URL('programs/', import.meta.url));

/** The expected outcome of a hostile program, in addition to staying contained. */
export type HostileProgramOutcome =
  /** The service refuses to load the program, with this code where one is set. */
  | { readonly kind: 'refused'; readonly code: string | undefined }
  /** A request to the program fails with 500 or 503. */
  | { readonly kind: 'fails' }
  | { readonly kind: 'status'; readonly status: number }
  /** A request to the program is answered, with any status but 404. */
  | { readonly kind: 'answered' };

/** One file of `programs/<group>/`: a hostile confined endpoint. */
export interface HostileProgram {
  /** `<group>-<file>`: the id and the path of the endpoint. */
  readonly id: string;
  readonly group: string;
  /** What the program tries: the comment in its first line. */
  readonly about: string;
  readonly text: string;
  readonly capabilities: Readonly<Record<string, unknown>>;
  readonly expectation: HostileProgramOutcome;
}

/**
 * Reads all hostile programs. Below its first line a program may state its capabilities (`// @capabilities {…}`) and the
 * expected outcome (`// @expect fails`, `refused CODE`, `status N`). Its answer must never contain `ESCAPED`.
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

function expectationOf(text = 'answered'): HostileProgramOutcome {
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
