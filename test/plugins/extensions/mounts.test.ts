import { expect } from 'chai';
import type { ExtensionMount, PackageMountRegistry } from '../../../plugins/extensions/contract.ts';
import { createPackageMountRegistry, type LoadFailure } from '../../../plugins/extensions/library.ts';
import type { RouteMount } from '../../../plugins/http/contract.ts';
import { RouteMountTable } from '../../../plugins/http/mount-table.ts';
import { pathClaimOf } from '../../../plugins/http/path-claims.ts';
import { TEST_ROUTE_DESCRIPTION } from '../../support/route-descriptions.ts';

describe('createPackageMountRegistry', () => {
  let warned: string[];
  let mounts: PackageMountRegistry;
  let table: readonly RouteMount[];
  let answered: string[];
  beforeEach(() => {
    warned = [];
    answered = [];
    table = [];
    const routes = ['/items/:collection', '/users'].map(
      (path) => ({ method: 'GET', path, description: TEST_ROUTE_DESCRIPTION, handle() {} }) as const,
    );
    const reserved = new Set(['files', 'graphql']);
    mounts = createPackageMountRegistry({
      routing: { claimOf: (path) => pathClaimOf(path, { routes, reserved, mounts: table }) },
      contribute(mount) {
        table = [...table, mount];
        return () => void (table = table.filter((one) => one !== mount));
      },
      log: { warn: (_what: unknown, text: string) => void warned.push(text) } as never,
    });
  });

  const mount = (path: string, owner: string, more: Partial<ExtensionMount> = {}): ExtensionMount => ({
    path,
    owner,
    confined: false,
    handle: async () => void answered.push(owner),
    ...more,
  });
  const ask = async (path: string) => {
    answered = [];
    await new RouteMountTable(table).handle({ path, state: {} } as never, async () => void answered.push('no mount'));
    return answered.join(' ');
  };
  const codeOf = (run: () => unknown): string => {
    try {
      run();
    } catch (error) {
      return (error as LoadFailure).code;
    }
    return 'none';
  };

  it('a request reaches the mount under its path, case-insensitive', async () => {
    mounts.add(mount('/Hello', 'a'));
    mounts.add(mount('/@acme/hello', 'b'));
    expect(await ask('/hello')).to.equal('a');
    expect(await ask('/HELLO/more/of/it')).to.equal('a');
    expect(await ask('/@acme/hello/x')).to.equal('b');
    expect(await ask('/%40ACME/hello')).to.equal('b');
    for (const path of ['/', '', '//hello', '/hell', '/hellos', '/@acme', '/@other/hello', '/%E0%A4%A', '/x/hello']) {
      expect(await ask(path), path).to.equal('no mount');
    }
  });

  it('a confined mount under a core or reserved path is ROUTE_COLLISION', async () => {
    for (const path of ['/users', '/files', '/graphql/more']) {
      expect(
        codeOf(() => mounts.add(mount(path, 'a', { confined: true }))),
        path,
      ).to.equal('ROUTE_COLLISION');
    }
    expect(codeOf(() => mounts.add(mount('/files', 'a')))).to.equal('none');
    expect(warned).to.deep.equal([]);
  });

  it('two mounts with full authority share a path, the first one first', async () => {
    const passing = mount('/a', 'one', {
      handle: async (_ctx, next) => {
        answered.push('one');
        await next();
      },
    });
    const remove = mounts.add(passing);
    mounts.add(mount('/A', 'two'));
    expect(warned).to.have.length(1);
    expect(await ask('/a')).to.equal('one two');
    remove();
    expect(await ask('/a')).to.equal('two');
    remove();
    expect(await ask('/a')).to.equal('two');
  });

  it('a confined mount under a taken path is ROUTE_COLLISION, and the others stay', async () => {
    mounts.add(mount('/a', 'one'));
    const remove = mounts.add(mount('/b', 'two', { confined: true }));
    for (const path of ['/A', '/b', '/items', '/Users', '/items/x']) {
      expect(
        codeOf(() => mounts.add(mount(path, 'three', { confined: true }))),
        path,
      ).to.equal('ROUTE_COLLISION');
    }
    expect([await ask('/a'), await ask('/b')]).to.deep.equal(['one', 'two']);
    remove();
    expect(await ask('/b')).to.equal('no mount');
    mounts.add(mount('/b', 'three', { confined: true }));
    expect(await ask('/b')).to.equal('three');
  });

  it('a mount with full authority under a core path answers behind it, with a warning', async () => {
    mounts.add(mount('/items', 'one'));
    expect(warned[0]).to.match(/"items" is taken/);
    expect(await ask('/items/a/b')).to.equal('one');
  });
});
