import { expect } from 'chai';
import { authorities, type BootFailure, facet } from '#kernel';
import { withAuditSentences } from '../../plugins/broker/library.ts';
import { captureError, type TestPlugin, withBootedTestPlugins } from '../support/test-plugins.ts';

interface Book {
  readonly title: string;
  readonly genre: string;
}

const shelf = facet<Book, readonly string[]>('shelf', {
  combine: (all) => all.map(({ owner, value }) => `${value.title} (${owner})`),
  manifest: {
    type: 'object',
    additionalProperties: false,
    required: ['genres'],
    properties: { genres: { type: 'array', items: { type: 'string' } } },
  },
  validate: (book, declared) => declared.genres.includes(book.genre) || `genre ${book.genre} is not declared`,
  describe: (declared) => authorities('provides', declared.genres, 'books'),
});

const library = (register: TestPlugin['register'] = () => {}): TestPlugin => ({
  name: 'library',
  manifest: { facets: ['shelf'] },
  register(host) {
    host.define(shelf);
    register(host);
  },
});

const publisher = (name: string, book: Book, genres = ['sea']): TestPlugin => ({
  name,
  manifest: { contributes: { shelf: { genres } } },
  register: (host) => host.contribute(shelf, book),
});

const moby = { title: 'Moby', genre: 'sea' };

describe('kernel facets', () => {
  it("host.read() returns all contributions in plugin order, with their owners' names", async () => {
    let read: () => readonly string[] = () => [];
    const owner = library((host) => void (read = () => host.read(shelf)));
    await withBootedTestPlugins(
      [owner, publisher('a', moby), publisher('b', { title: 'Kon-Tiki', genre: 'sea' })],
      () => {
        expect(read()).to.deep.equal(['Moby (a)', 'Kon-Tiki (b)']);
        expect(read()).to.equal(read());
      },
    );
  });

  it('host.read() is denied to plugins that do not define the facet', async () => {
    const nosy: TestPlugin = {
      name: 'nosy',
      manifest: { contributes: { shelf: { genres: ['sea'] } } },
      register: (host) => host.read(shelf),
    };
    const failure = await captureError<BootFailure>(withBootedTestPlugins([library(), nosy], () => {}));
    expect(failure.plugin).to.equal('nosy');
    expect(failure.message).to.equal('nosy may not read the facet shelf: its manifest does not grant it (facets)');
    expect(failure.cause).to.include({ code: 'CAPABILITY_DENIED' });
  });

  it("a contribution that fails the facet's validate() is denied", async () => {
    const failure = await captureError<BootFailure>(
      withBootedTestPlugins([library(), publisher('p', { title: 'X', genre: 'crime' })], () => {}),
    );
    expect(failure.message).to.equal('p: contribution to shelf refused: genre crime is not declared');
    expect(failure.cause).to.include({ code: 'CAPABILITY_DENIED' });
  });

  it('a copy of a facet without validate() does not bypass the rule of its owner', async () => {
    const sly: TestPlugin = {
      name: 'sly',
      manifest: { contributes: { shelf: { genres: ['sea'] } } },
      register: (host) => host.contribute(facet<Book>('shelf'), { title: 'X', genre: 'crime' }),
    };
    const failure = await captureError<BootFailure>(withBootedTestPlugins([library(), sly], () => {}));
    expect(failure.message).to.contain('genre crime is not declared');
  });

  it('a plugin may contribute to a facet that it defines itself', async () => {
    let read: () => readonly string[] = () => [];
    const both: TestPlugin = {
      name: 'both',
      manifest: { facets: ['shelf'], contributes: { shelf: { genres: ['sea'] } } },
      register(host) {
        host.define(shelf);
        host.contribute(shelf, moby);
        read = () => host.read(shelf);
      },
    };
    await withBootedTestPlugins([both], () => expect(read()).to.deep.equal(['Moby (both)']));
  });

  it('boot rejects a second definition of a facet', async () => {
    const twice: TestPlugin = {
      name: 'twice',
      manifest: { facets: ['shelf'], contributes: { shelf: { genres: [] } } },
      register: (host) => host.define(shelf),
    };
    const failure = await captureError<BootFailure>(withBootedTestPlugins([library(), twice], () => {}));
    expect(failure.message).to.equal('the facet shelf already belongs to library');
  });

  it("the audit describes contributions in the words of the facet's owner", async () => {
    await withBootedTestPlugins([library(), publisher('a', moby, ['sea', 'land'])], ({ kernel }) => {
      const [a, owner] = withAuditSentences(kernel.audit());
      expect(a?.sentences).to.deep.equal(['provides land, sea (books)']);
      expect(owner?.sentences).to.deep.equal(['opens shelf']);
    });
  });

  it('http.middleware runs layers by phase, then in plugin order', async () => {
    const passed: string[] = [];
    const layers = (name: string, ...phases: ('edge' | 'route')[]): TestPlugin => ({
      name,
      manifest: { contributes: { 'http.middleware': { phases } } },
      register(host) {
        for (const phase of phases) {
          host.contribute(facet('http.middleware'), {
            name: phase,
            phase,
            handle: (_ctx: unknown, next: () => Promise<void>) => {
              passed.push(`${name} ${phase}`);
              return next();
            },
          });
        }
      },
    });
    await withBootedTestPlugins([layers('a', 'route', 'edge'), layers('b', 'edge')], async ({ kernel }) => {
      await fetch(`http://127.0.0.1:${(await kernel.listen()).port}/`);
      expect(passed).to.deep.equal(['a edge', 'b edge', 'a route']);
    });
  });
});
