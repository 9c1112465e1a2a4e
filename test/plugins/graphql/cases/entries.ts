/**
 * The selection of a document, field by field, each with the path of its value in the answer of REST. Both the text of
 * the document and the expected answer are derived from this tree.
 */
export type DocumentEntry =
  /** `__typename`: the only field when no other is readable. */
  | { readonly kind: 'typename'; readonly key: string; readonly type: string }
  | {
      readonly kind: 'column';
      readonly key: string;
      readonly field: string;
      readonly args?: Arguments;
      /** Path of the value in a row of REST: one key, or two inside an object. */
      readonly from: readonly string[];
      /** How GraphQL renders the value unlike REST: `text` for an `ID`, `number` for a `Float`. */
      readonly as?: 'text' | 'number';
    }
  /** `<field>_func`: REST answers its members in the row itself. */
  | { readonly kind: 'functions'; readonly key: string; readonly field: string; readonly of: readonly DocumentEntry[] }
  /** `group`: REST answers its members in the row itself, and the document names no fields of it. */
  | { readonly kind: 'groups'; readonly key: string; readonly field: string; readonly of: readonly DocumentEntry[] }
  /** A relation with selected fields: the row behind a many-to-one, or a list of rows. */
  | {
      readonly kind: 'rows';
      readonly key: string;
      readonly field: string;
      readonly args?: Arguments;
      readonly from: readonly string[];
      readonly of: readonly DocumentEntry[];
    }
  /** A relation without selected fields, for which REST answers bare keys. */
  | {
      readonly kind: 'keys';
      readonly key: string;
      readonly field: string;
      readonly args?: Arguments;
      readonly from: readonly string[];
      readonly primary: string;
    }
  /** A many-to-any, by collection. `unasked`: keys of the rows of collections without selected fields. */
  | {
      readonly kind: 'any';
      readonly key: string;
      readonly field: string;
      readonly from: readonly string[];
      readonly of: ReadonlyMap<string, readonly DocumentEntry[]>;
      readonly unasked: ReadonlySet<string>;
    };

export type Arguments = Readonly<Record<string, unknown>>;

/** An argument value that is sent as a variable. */
export class Variable {
  readonly type: string;
  readonly value: unknown;

  constructor(type: string, value: unknown) {
    this.type = type;
    this.value = value;
  }
}

/** Thrown for a REST query that GraphQL cannot express. */
export class Inexpressible extends Error {
  readonly reason: string;

  constructor(reason: string) {
    super(reason);
    this.reason = reason;
  }
}

export const isGraphqlName = (name: string): boolean => /^[_A-Za-z]\w*$/.test(name) && !name.startsWith('__');

/** A root field with its selection. */
export interface DocumentRoot {
  readonly key?: string;
  readonly field: string;
  readonly args?: Arguments;
  /** Selection of the root field; absent for a field without subfields. */
  readonly of?: readonly DocumentEntry[];
}

export interface DocumentRequest {
  readonly text: string;
  readonly variables: Readonly<Record<string, unknown>>;
}

export function renderDocument(operation: 'query' | 'mutation', roots: readonly DocumentRoot[]): DocumentRequest {
  const found = new Map<Variable, string>();
  const fields = roots.map(({ key, field, args, of }) => {
    const called = key === undefined || key === field ? field : `${key}: ${field}`;
    return `${called}${renderArguments(args, found)}${of ? renderBlock(of, found) : ''}`;
  });
  const declared = [...found].map(([{ type }, name]) => `$${name}: ${type}`);
  return {
    text: `${operation}${declared.length > 0 ? ` (${declared.join(', ')})` : ''} { ${fields.join(' ')} }`,
    variables: Object.fromEntries([...found].map(([{ value }, name]) => [name, value])),
  };
}

type DeclaredVariables = Map<Variable, string>;

const renderBlock = (entries: readonly DocumentEntry[], found: DeclaredVariables): string =>
  ` { ${entries.map((entry) => renderEntry(entry, found)).join(' ')} }`;

function renderEntry(entry: DocumentEntry, found: DeclaredVariables): string {
  if (entry.kind === 'typename') return entry.key === '__typename' ? '__typename' : `${entry.key}: __typename`;
  const called = entry.key === entry.field ? entry.field : `${entry.key}: ${entry.field}`;
  const head = 'args' in entry ? `${called}${renderArguments(entry.args, found)}` : called;
  switch (entry.kind) {
    case 'column':
    case 'groups':
      return head;
    case 'functions':
    case 'rows':
      return `${head}${renderBlock(entry.of, found)}`;
    case 'keys':
      return `${head} { ${entry.primary} }`;
    case 'any': {
      return `${head} { ${[...entry.of].map(([type, of]) => `... on ${type}${renderBlock(of, found)}`).join(' ')} }`;
    }
  }
}

function renderArguments(args: Arguments | undefined, found: DeclaredVariables): string {
  const present = Object.entries(args ?? {}).filter(([, value]) => value !== undefined);
  if (present.length === 0) return '';
  return `(${present.map(([name, value]) => `${name}: ${renderLiteral(value, found)}`).join(', ')})`;
}

function renderLiteral(value: unknown, found: DeclaredVariables): string {
  if (value instanceof Variable) {
    const name = found.get(value) ?? `v${found.size + 1}`;
    found.set(value, name);
    return `$${name}`;
  }
  if (Array.isArray(value)) return `[${value.map((one) => renderLiteral(one, found)).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const fields = Object.entries(value).map(([name, one]) => {
    if (!isGraphqlName(name)) throw new Inexpressible('a name that is no GraphQL name');
    return `${name}: ${renderLiteral(one, found)}`;
  });
  return `{ ${fields.join(', ')} }`;
}
