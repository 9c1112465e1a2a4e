import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { ERRORS } from '#kernel';
import {
  callerParameterIndex,
  parseExports,
  parseInterfaceMethods,
  readContractServices,
  readExportedInterfaceNames,
  readExports,
  readInterfaceMethods,
} from '../support/contract-text.ts';
import { projectRoot, readCorePluginFolders } from '../support/plugin-folders.ts';

/** Recognises keys of facets and services, which contracts may export although they have functions of the kernel as members. */
const isKey = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && typeof (value as { id?: unknown }).id === 'string';

const isData = (value: unknown): boolean =>
  typeof value !== 'function' && (typeof value !== 'object' || value === null || Object.values(value).every(isData));

interface ServiceKey {
  readonly id: string;
  readonly version: string;
  readonly callers?: Readonly<Record<string, number>>;
}

const isServiceKey = (value: unknown): value is ServiceKey => isKey(value) && 'version' in (value as object);

const serviceKeysOf = (exported: object): ReadonlyMap<string, ServiceKey> =>
  new Map(
    Object.values(exported)
      .filter(isServiceKey)
      .map((key) => [key.id, key]),
  );

/** Error codes in a doc comment before its first `@throws`, where they do not belong. */
const codesBeforeThrows = (doc: string): readonly string[] =>
  (doc.split('@throws')[0]?.match(/\b[A-Z]+(?:_[A-Z]+)*\b/g) ?? []).filter((word) => word in ERRORS);

describe('contract.ts of a plugin', () => {
  for (const { folder } of readCorePluginFolders()) {
    const path = `plugins/${folder}/contract.ts`;
    if (!existsSync(join(projectRoot, path))) continue;

    it(`plugins/${folder}/contract.ts exports keys, types and constants only, no functions`, async () => {
      const exported = Object.entries((await import(join(projectRoot, path))) as Record<string, unknown>);
      const running = exported.filter(([, value]) => !isKey(value) && !isData(value)).map(([name]) => name);
      expect(running, 'functions and classes belong into library.ts').to.deep.equal([]);
    });

    it(`plugins/${folder}/contract.ts has a doc comment right above each export`, () => {
      const without = readExports(path).filter(({ doc }) => !doc);
      expect(without.map((one) => `${one.path}:${one.line} ${one.name}`)).to.deep.equal([]);
    });

    it(`plugins/${folder}/contract.ts documents error codes of methods with @throws`, () => {
      const wrong = readExportedInterfaceNames(path).flatMap((type) =>
        readInterfaceMethods(path, type).flatMap(({ name, line, doc }) =>
          codesBeforeThrows(doc).map((code) => `${path}:${line} ${type}.${name}: ${code}`),
        ),
      );
      expect(wrong).to.deep.equal([]);
    });

    const services = readContractServices(path);
    if (services.length === 0) continue;

    it(`plugins/${folder}/contract.ts lists the position of each caller parameter in the callers of its service`, async () => {
      const keys = serviceKeysOf(await import(join(projectRoot, path)));
      const wrong = services.flatMap(({ id, type, methods }) => {
        if (!methods) return [`${path}: the interface ${type} of the service ${id} is not in this file`];
        const inText = new Map(methods.map((method) => [method.name, callerParameterIndex(method)]));
        const inKey = new Map(Object.entries(keys.get(id)?.callers ?? {}));
        return [...new Set([...inText.keys(), ...inKey.keys()])]
          .filter((name) => inText.get(name) !== inKey.get(name))
          .map((name) => `${id}.${name}: position ${inText.get(name)} in the interface, ${inKey.get(name)} in the key`);
      });
      expect(wrong).to.deep.equal([]);
    });
  }
});

describe('the parser of contracts', () => {
  const text = `
/** What one is. */
export interface Documented {}

export interface Bare {}
// a remark
export type Remarked = string;
/** For the linter. */
// biome-ignore lint/x: reason
export const ignored = 1;

export interface Verbs {
  /** Null stands for a schedule. */
  scheduled(caller: Caller | null, name: string): void;
  optional(name: string, caller: Caller | null): void;
  generic<Row = Record<string, unknown>>(
    options: Pick<Options, 'a' | 'b'>,
    /** On whose behalf. */
    caller: Caller,
    done: (caller: Caller, count: number) => void,
  ): Promise<Row>;
  readonly member: string;
  readonly called: (rows: [number, number], caller: Caller) => void;
  callback(done: (caller: Caller) => void): void;
}
`;

  it('assigns a doc comment to an export only when it stands right above', () => {
    expect(parseExports('x.ts', text).map(({ name, doc }) => [name, doc])).to.deep.equal([
      ['Documented', 'What one is.'],
      ['Bare', undefined],
      ['Remarked', undefined],
      ['ignored', 'For the linter.'],
      ['Verbs', undefined],
    ]);
  });

  it('counts the position of a caller by top-level commas', () => {
    const positions = parseInterfaceMethods(text, 'Verbs')?.map((method) => [
      method.name,
      callerParameterIndex(method),
    ]);
    expect(positions).to.deep.equal([
      ['scheduled', undefined],
      ['optional', 1],
      ['generic', 1],
      ['called', 1],
      ['callback', undefined],
    ]);
  });
});
