import { expect } from 'chai';
import { createBenchAliasesAndEditor } from '../../scripts/bench/collection-setup.ts';
import { loadBenchData } from '../../scripts/bench/data.ts';
import { GRAPHQL_BENCH_SCENARIOS } from '../../scripts/bench/graphql/graphql-bench-scenarios.ts';
import { recordStatementsDuring } from '../support/capture-sql-statements.ts';
import type { FreshDatabase } from '../support/database.ts';
import { createMigratedDatabase, type InProcessService, startService } from '../support/service.ts';
import { createUserWithPermissions } from './test-users.ts';

const SCALE = 0.01;

const TWO_ROOTS = `query ($country: String!) {
  article(limit: 3, filter: { status: { _eq: "published" } }) { title author_id { name } tags { tag_id { name } } }
  author(limit: 2, filter: { country: { _eq: $country } }) { name articles(limit: 2) { title comments(limit: 1) { author } } }
}`;

describe('/graphql runs one statement for each root field, however deep it is', () => {
  let database: FreshDatabase;
  let service: InProcessService;
  let editor: string;
  before(async () => {
    database = await createMigratedDatabase('graphql_statements');
    await loadBenchData(database, SCALE);
    service = await startService({ database });
    editor = await createBenchAliasesAndEditor(service);
  });
  after(async () => {
    await service?.stop();
    await database?.drop();
  });

  async function ask(token: string, query: string, variables: object = {}): Promise<Record<string, unknown>> {
    const { status, body } = await service.request('POST', '/graphql', { token, body: { query, variables } });
    expect(status, JSON.stringify(body).slice(0, 500)).to.equal(200);
    expect(body).to.have.all.keys('data');
    return body.data;
  }

  /** The statements of one request when the caches are filled: those of the run with the fewest. */
  async function warm(request: (n: number) => Promise<unknown>): Promise<readonly string[]> {
    for (let n = 0; n < 2; n++) await request(n);
    const runs: (readonly string[])[] = [];
    for (let n = 2; n < 5; n++) runs.push(await recordStatementsDuring(() => request(n)));
    // A notification may clear a cache before a run, which then has more statements: the shortest run counts.
    return runs.toSorted((a, b) => a.length - b.length)[0] ?? [];
  }

  for (const { name, document, table } of GRAPHQL_BENCH_SCENARIOS) {
    it(`${name}: one statement`, async () => {
      const sent = await warm(async (n) => {
        const { article } = await ask(service.admin.token, document, table ? { id: n + 1 } : {});
        expect(article).not.to.be.empty;
      });
      expect(sent, sent.join('\n\n')).to.have.length(1);
    });
  }

  it('three levels below each of two root fields: two statements', async () => {
    const sent = await warm(async (n) => {
      const data = await ask(service.admin.token, TWO_ROOTS, { country: n % 2 === 0 ? 'AT' : 'BE' });
      expect(data.article).to.have.length(3);
      expect(data.author).to.have.length(2);
    });
    expect(sent, sent.join('\n\n')).to.have.length(2);
    expect(sent.map((text) => /\bfrom "(?:public"\.")?(article|author)"/.exec(text)?.[1])).to.have.members([
      'article',
      'author',
    ]);
  });

  it('a caller with a row rule and a field list: one statement', async () => {
    const sent = await warm(async () => {
      const { article } = await ask(editor, 'query { article(limit: 4) { id title status } }');
      expect(article).to.have.length(4);
      for (const row of article as { status: string }[]) expect(row.status).to.equal('published');
    });
    expect(sent, sent.join('\n\n')).to.have.length(1);
  });

  it('the first request of a caller: at most three statements for the user and its permissions, and one for the root field', async () => {
    const { token } = await createUserWithPermissions(service, [
      { collection: 'tag', action: 'read', fields: ['id', 'name'] },
    ]);
    const sent = await recordStatementsDuring(() => ask(token, 'query { tag(limit: 1) { id name } }'));
    const [rootStatement, ...permissionStatements] = sent.toReversed();
    expect(rootStatement).to.contain('"tag"');
    expect(
      permissionStatements.filter((text) => !text.includes('platform_')),
      sent.join('\n\n'),
    ).to.deep.equal([]);
    expect(sent, sent.join('\n\n')).to.have.length.within(2, 4);
  });

  it('a new document: no further statement', async () => {
    await ask(service.admin.token, 'query { tag(limit: 1) { id } }');
    const runs: (readonly string[])[] = [];
    for (const field of ['name', 'color', 'id name']) {
      runs.push(await recordStatementsDuring(() => ask(service.admin.token, `query { tag(limit: 2) { ${field} } }`)));
    }
    const fewest = runs.toSorted((a, b) => a.length - b.length)[0] ?? [];
    expect(fewest, fewest.join('\n\n')).to.have.length(1);
  });
});
