import type { PreparedStatement } from '../../query/contract.ts';

/** How a read runs, without values. */
export interface ReadExplanation {
  readonly collection: string;
  /** The query without values: `article[id] where status._eq limit 100`. */
  readonly shape: string;
  readonly statement: string;
  /** `form: 'rows'`: through a cursor, batch by batch. */
  readonly form: PreparedStatement['form'];
  readonly parameters: readonly { readonly index: number; readonly type: string | null; readonly value: '?' }[];
  /** PostgreSQL's `explain (format json)` for any values. */
  readonly plan: unknown;
}

export const toReadExplanation = (collection: string, prepared: PreparedStatement, plan: unknown): ReadExplanation => {
  const { shape, text, form, params } = prepared;
  const types = parseParameterTypes(text);
  const parameters = params.map((_, at) => ({ index: at + 1, type: types.get(at + 1) ?? null, value: '?' as const }));
  return { collection, shape, statement: text, form, parameters, plan };
};

/** Every parameter is cast where it stands: `$1::timestamp with time zone`. */
const PARAMETER_CAST =
  /\$(\d+)::((?:(?:"(?:[^"]|"")*"|\w+)\.?)+(?: (?:varying|precision|with(?:out)? time zone))?(?:\(\d+(?:,\d+)?\))?(?: with(?:out)? time zone)?(?:\[\])*)/g;

const parseParameterTypes = (text: string): ReadonlyMap<number, string> =>
  new Map([...text.matchAll(PARAMETER_CAST)].map(([, index, type]) => [Number(index), type as string]));
