import { createInvalidQueryFailure, type QueryErrorPath } from './raw-values.ts';

/** One step of a path: `title`, `item:headings`, `year(published)`, `json(meta, a.b[0])`. */
export interface FieldPathStep {
  readonly field: string;
  /** The collection of a many-to-any, after the colon. */
  readonly collection?: string;
  readonly fn?: { readonly name: string; readonly path: readonly string[] };
}

const CALL = /^([a-zA-Z_]+)\((.*)\)$/s;

/**
 * Splits a dotted path into steps. A function around a whole path belongs to its last step: `year(author.born)` equals
 * `author.year(born)`.
 */
export function splitFieldPath(text: string, path: QueryErrorPath): readonly string[] {
  const call = CALL.exec(text);
  if (!call) return splitAtDots(text, path);
  const [, fn = '', inside = ''] = call;
  const comma = inside.indexOf(',');
  const [way, rest] = comma < 0 ? [inside, ''] : [inside.slice(0, comma), inside.slice(comma)];
  const steps = splitAtDots(way.trim(), path);
  return [...steps.slice(0, -1), `${fn}(${steps.at(-1)}${rest})`];
}

/** Splits a path into its first step and the rest. */
export function splitFirstPathStep(
  text: string,
  path: QueryErrorPath,
): readonly [head: string, rest: string | undefined] {
  if (!text.includes('(')) {
    const dot = text.indexOf('.');
    return dot < 0 ? [text, undefined] : [text.slice(0, dot), text.slice(dot + 1)];
  }
  const [head = '', ...rest] = splitFieldPath(text, path);
  return [head, rest.length > 0 ? rest.join('.') : undefined];
}

export function parseFieldPathStep(step: string, path: QueryErrorPath): FieldPathStep {
  const call = CALL.exec(step);
  if (call) {
    const [, name = '', inside = ''] = call;
    const comma = inside.indexOf(',');
    const field = (comma < 0 ? inside : inside.slice(0, comma)).trim();
    if (field === '' || /[().:]/.test(field))
      throw createInvalidQueryFailure(`"${step.slice(0, 60)}" is not a function of a field`, path);
    return { field, fn: { name, path: comma < 0 ? [] : parseJsonPath(inside.slice(comma + 1), path) } };
  }
  if (/[()]/.test(step))
    throw createInvalidQueryFailure(`"${step.slice(0, 60)}" has parentheses that do not match`, path);
  const colon = step.indexOf(':');
  return colon < 0 ? { field: step } : { field: step.slice(0, colon), collection: step.slice(colon + 1) };
}

/** The name of a step in an answer, with that of its function: `published_year`, `meta_a_b_0_json`. */
const stepKey = ({ field, fn }: FieldPathStep): string => (fn ? [field, ...fn.path, fn.name].join('_') : field);

/**
 * The key of a step in an answer. PostgreSQL truncates longer names, so that two keys could become equal. @throws INVALID_QUERY
 * for a function whose key is too long
 */
export function buildResponseMemberName(name: FieldPathStep, path: QueryErrorPath): string {
  const key = stepKey(name);
  if (name.fn) assertNameBytes(key, path, ': give it an alias');
  return key;
}

/** The longest name in PostgreSQL. */
const MAX_NAME_BYTES = 63;

export function assertNameBytes(key: string, path: QueryErrorPath, remedy = ''): void {
  const bytes = Buffer.byteLength(key);
  if (bytes > MAX_NAME_BYTES)
    throw createInvalidQueryFailure(
      `"${key.slice(0, 60)}" has ${bytes} bytes, more than the ${MAX_NAME_BYTES} allowed${remedy}`,
      path,
    );
}

const MAX_JSON_STEPS = 10;

/** Parses `a.b[0].c`: names and indexes inside a JSON value. */
export function parseJsonPath(text: string, path: QueryErrorPath): readonly string[] {
  const steps = text
    .trim()
    .replace(/\[(\d{1,9})\]/g, '.$1')
    .split('.')
    .map((step) => step.trim());
  if (steps[0] === '' && steps.length > 1) steps.shift();
  if (steps.some((step) => step === '' || /[[\]()\0]/.test(step)))
    throw createInvalidQueryFailure(`"${text.slice(0, 60)}" is not a path into a JSON value`, path);
  if (steps.length > MAX_JSON_STEPS)
    throw createInvalidQueryFailure(
      `leads ${steps.length} levels into a JSON value, more than the ${MAX_JSON_STEPS} allowed`,
      path,
    );
  return steps;
}

/** Splits at dots outside parentheses, which must match and not be nested. */
function splitAtDots(text: string, path: QueryErrorPath): readonly string[] {
  const steps: string[] = [];
  let inside = false;
  let from = 0;
  for (let at = 0; at < text.length; at++) {
    const one = text[at];
    if (one === '(' || one === ')') {
      if (inside === (one === '('))
        throw createInvalidQueryFailure(`"${text.slice(0, 60)}" has parentheses that do not match`, path);
      inside = !inside;
    } else if (one === '.' && !inside) {
      steps.push(text.slice(from, at));
      from = at + 1;
    }
  }
  if (inside) throw createInvalidQueryFailure(`"${text.slice(0, 60)}" has parentheses that do not match`, path);
  return [...steps, text.slice(from)];
}
