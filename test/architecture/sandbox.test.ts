import { expect } from 'chai';
import { type ParsedCodeFile, packageNameOf, readTypeScriptFiles } from '../support/sources.ts';

type Import = ParsedCodeFile['imports'][number];

const offences = (
  sources: readonly ParsedCodeFile[],
  isWrong: (one: Import, source: ParsedCodeFile) => boolean,
): readonly string[] =>
  sources.flatMap((source) =>
    source.imports.filter((one) => isWrong(one, source)).map((one) => `${source.path} imports ${one.specifier}`),
  );

const isIn = (folder: string, { target }: Import): boolean => target?.startsWith(`${folder}/`) === true;

describe('architecture: sandbox', () => {
  const sandbox = readTypeScriptFiles('sandbox');

  it('sandbox/ imports only types from the kernel and from plugins', () => {
    const wrong = offences(
      sandbox,
      (one) => !one.typeOnly && (one.specifier === '#kernel' || isIn('kernel', one) || isIn('plugins', one)),
    );
    expect(wrong).to.deep.equal([]);
  });

  it('only sandbox/runner imports the JavaScript engine', () => {
    const everywhere = ['kernel', 'plugins', 'sandbox'].flatMap(readTypeScriptFiles);
    const name = /['"]isolated-vm(?:\/|['"])/;
    const users = everywhere.filter(({ text }) => name.test(text)).map(({ path }) => path);
    expect(users.filter((path) => !path.startsWith('sandbox/runner/'))).to.deep.equal([]);
  });

  it('only the plugin sandbox imports code of sandbox/; other plugins import types at most', () => {
    const others = [...readTypeScriptFiles('kernel'), ...readTypeScriptFiles('plugins')].filter(
      ({ path }) => !path.startsWith('plugins/sandbox/'),
    );
    expect(offences(others, (one) => isIn('sandbox', one) && !one.typeOnly)).to.deep.equal([]);
  });

  it('plugins/sandbox/contract.ts exports only types of sandbox/', () => {
    const contract = readTypeScriptFiles('plugins/sandbox').filter(({ path }) => path.endsWith('/contract.ts'));
    expect(contract).to.have.length(1);
    expect(offences(contract, (one) => isIn('sandbox', one) && !one.typeOnly)).to.deep.equal([]);
  });

  it('sandbox/protocol imports only its own files', () => {
    const protocol = readTypeScriptFiles('sandbox/protocol');
    expect(offences(protocol, (one) => one.target === null || !isIn('sandbox/protocol', one))).to.deep.equal([]);
  });

  it('the supervisor imports no launcher, no runner and no node:child_process', () => {
    const supervisor = [...readTypeScriptFiles('sandbox/host/supervisor'), ...sandbox.filter(isConnection)];
    const wrong = offences(
      supervisor,
      (one) =>
        (one.target === null && !['async_hooks', 'stream', 'timers/promises'].includes(one.specifier.slice(5))) ||
        isIn('sandbox/runner', one) ||
        isIn('sandbox/host/launch', one),
    );
    expect(wrong).to.deep.equal([]);
    expect(
      supervisor.flatMap(({ imports }) => imports.map(({ specifier }) => packageNameOf(specifier))),
    ).not.to.include('node:child_process');
  });
});

const isConnection = ({ path }: ParsedCodeFile): boolean => /^sandbox\/host\/[\w-]+\.ts$/.test(path);
