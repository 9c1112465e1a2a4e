import { type ParseArgsOptionsConfig, parseArgs } from 'node:util';
import { type FieldRename, SNAPSHOT_PARTS, type SnapshotPartName } from '../contract.ts';

/** Arguments that make no sense: the command ends with 2, and prints its usage. */
export class UsageError extends Error {}

export interface ParsedArguments {
  readonly file: string | undefined;
  readonly parts: readonly SnapshotPartName[] | undefined;
  readonly renames: readonly FieldRename[];
  readonly allowedDrops: ReadonlySet<string>;
  readonly format: 'json' | 'yaml' | undefined;
  readonly save: string | undefined;
  readonly flags: ReadonlySet<string>;
}

const OPTIONS = {
  with: { type: 'string' },
  format: { type: 'string' },
  rename: { type: 'string', multiple: true },
  'allow-drop': { type: 'string', multiple: true },
  save: { type: 'string' },
  merge: { type: 'boolean' },
  force: { type: 'boolean' },
  json: { type: 'boolean' },
  yes: { type: 'boolean', short: 'y' },
  'dry-run': { type: 'boolean', short: 'd' },
} as const satisfies ParseArgsOptionsConfig;

export type OptionName = keyof typeof OPTIONS;

/** Parses the arguments of a command that takes one file and these options. @throws UsageError */
export function parseArguments(
  args: readonly string[],
  command: { readonly options: readonly OptionName[]; readonly needsFile: boolean },
): ParsedArguments {
  const options = Object.fromEntries(command.options.map((name) => [name, OPTIONS[name]]));
  let parsed: { values: Record<string, unknown>; positionals: string[] };
  try {
    parsed = parseArgs({ args: [...args], options, strict: true, allowPositionals: true }) as never;
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
  const { values, positionals } = parsed;
  if (positionals.length > 1) throw new UsageError('There is one file at most.');
  if (command.needsFile && positionals.length === 0) throw new UsageError('The file is missing.');
  return {
    file: positionals[0],
    parts: parseParts(values.with),
    renames: listOf(values.rename).map(parseRename),
    allowedDrops: new Set(listOf(values['allow-drop'])),
    format: parseFormat(values.format),
    save: values.save as string | undefined,
    flags: new Set(Object.keys(values).filter((name) => values[name] === true)),
  };
}

/** Values of an option that may be repeated, each with commas between its names. */
const listOf = (value: unknown): readonly string[] =>
  ((value ?? []) as readonly string[]).flatMap((one) => one.split(',')).filter((one) => one !== '');

function parseParts(value: unknown): readonly SnapshotPartName[] | undefined {
  if (value === undefined) return undefined;
  const names = String(value).split(',');
  const unknown = names.find((name) => !(SNAPSHOT_PARTS as readonly string[]).includes(name));
  if (unknown !== undefined) throw new UsageError(`There is no part "${unknown}": ${SNAPSHOT_PARTS.join(', ')}.`);
  return names as readonly SnapshotPartName[];
}

function parseFormat(value: unknown): 'json' | 'yaml' | undefined {
  if (value === undefined || value === 'json' || value === 'yaml') return value;
  throw new UsageError('--format is json or yaml.');
}

/** `track.name=track.title`, or `track.name=title`. */
function parseRename(text: string): FieldRename {
  const [from = '', to = '', ...rest] = text.split('=');
  const [collection = '', field = '', ...deeper] = from.split('.');
  const name = to.startsWith(`${collection}.`) ? to.slice(collection.length + 1) : to;
  if (rest.length + deeper.length > 0 || collection === '' || field === '' || name === '' || name.includes('.'))
    throw new UsageError(`"${text}" is no rename of a field, such as track.name=track.title.`);
  return { collection, from: field, to: name };
}
