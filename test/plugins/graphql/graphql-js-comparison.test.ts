import { expect } from 'chai';
import { buildSchema, execute, type GraphQLSchema, parse, validate } from 'graphql';
import { requestAsAdmin } from '../../http/test-users.ts';
import type { FreshDatabase } from '../../support/database.ts';
import { createMigratedDatabase, type InProcessService, startService } from '../../support/service.ts';
import { generateGraphqlDocument } from './generated-documents.ts';
import { createReferenceResolver } from './reference-resolvers.ts';
import { createReferenceRows, REFERENCE_TABLES } from './reference-rows.ts';

const DOCUMENTS = 600;

/**
 * Compares the service with the executor of the graphql package, which runs the same documents over the published
 * schema of the service, with simple resolvers and rows in memory.
 */
describe('/graphql answers generated documents like the executor of the graphql package', function () {
  this.timeout(300_000);
  let database: FreshDatabase;
  let service: InProcessService;
  let schema: GraphQLSchema;
  const rows = createReferenceRows();
  const fieldResolver = createReferenceResolver(rows);

  before(async () => {
    database = await createMigratedDatabase('graphql_reference');
    for (const [name, { sql }] of Object.entries(REFERENCE_TABLES)) {
      await database.query(sql);
      await database.query(
        `insert into ${name} select * from jsonb_populate_recordset(null::${name}, '${JSON.stringify(rows.get(name)).replaceAll("'", "''")}')`,
      );
    }
    service = await startService({ database });
    const admin = (method: string, path: string, body: unknown) => requestAsAdmin(service, method, path, body);
    for (const [name, { many, any, singleton }] of Object.entries(REFERENCE_TABLES)) {
      if (singleton) await admin('PATCH', `/collections/${name}`, { meta: { singleton } });
      for (const [field, { of, by, order }] of Object.entries(many)) {
        await admin('POST', `/fields/${name}`, { field, type: 'alias', meta: { special: ['o2m'] } });
        await admin('PATCH', `/relations/${of}/${by}`, {
          meta: { one_field: field, ...(order ? { sort_field: order } : {}) },
        });
      }
      for (const [field, { by, of }] of Object.entries(any))
        await admin('POST', '/relations', {
          collection: name,
          field,
          meta: { one_collection_field: by, one_allowed_collections: of },
        });
    }
    schema = buildSchema((await service.request('GET', '/server/specs/graphql', { token: service.admin.token })).body);
  });
  after(async () => {
    await service?.stop();
    await database?.drop();
  });

  it('the service has a schema to compare with', () => {
    expect(Object.keys(REFERENCE_TABLES).filter((name) => !schema.getType(name))).to.deep.equal([]);
  });

  it(`answers ${DOCUMENTS} documents equally, with fields in the same order`, async () => {
    const differences: string[] = [];
    let compared = 0;
    for (let seed = 1; compared < DOCUMENTS; seed++) {
      const generated = generateGraphqlDocument(schema, rows, seed);
      const document = parse(generated.query);
      if (validate(schema, document).length > 0) continue;
      compared++;
      const { data: expected, errors } = await execute({
        schema,
        document,
        variableValues: generated.variables,
        fieldResolver,
      });
      expect(errors, generated.query).to.equal(undefined);
      const text = await answerTo(generated);
      const expectedText = `{"data":${JSON.stringify(expected)}}`;
      if (canonical(text) === canonical(expectedText)) continue;
      differences.push(
        [`seed ${seed}`, generated.query, JSON.stringify(generated.variables), text, expectedText].join('\n'),
      );
    }
    expect(differences.length, differences.slice(0, 3).join('\n\n')).to.equal(0);
  });

  /** Removes differences of JSON rendering: PostgreSQL writes spaces, trailing zeros and more digits than JavaScript. */
  const canonical = (text: string): string =>
    JSON.stringify(
      JSON.parse(text, (_key, value) => (typeof value === 'number' ? Number(value.toPrecision(12)) : value)),
    );

  async function answerTo(body: object): Promise<string> {
    const answer = await fetch(`${service.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${service.admin.token}` },
      body: JSON.stringify(body),
    });
    return answer.text();
  }
});
