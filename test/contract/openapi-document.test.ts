import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Validator } from '@seriousme/openapi-schema-validator';
import { expect } from 'chai';
import { ERRORS } from '#kernel';
import { errorCodesOf } from '../../plugins/http/library.ts';
import type { OpenApiDocument } from '../../plugins/openapi/contract.ts';
import { createUserWithPermissions } from '../http/test-users.ts';
import { createSchemaCheck, listOperations, readDocument } from '../plugins/openapi/document-check.ts';
import { type FreshDatabase, freshDatabase, runSqlFile } from '../support/database.ts';
import { readCorePluginRoutes } from '../support/route-descriptions.ts';
import { type InProcessService, startService } from '../support/service.ts';
import { projectRoot } from '../support/sources.ts';
import { OPTIONAL_FEATURES } from './optional-features.ts';

const run = promisify(execFile);

describe('the OpenAPI document', function () {
  // Generators and compilers take long on a busy machine.
  this.timeout(180_000);

  let database: FreshDatabase;
  let service: InProcessService;
  let documents: Readonly<Record<'public' | 'user' | 'admin', OpenApiDocument>>;

  before(async () => {
    database = await freshDatabase('openapi');
    await runSqlFile(database.url, new URL('../data/chinook.sql', import.meta.url));
    service = await startService({ database, env: { TUS_ENABLED: 'true' } });
    const user = await createUserWithPermissions(service, [
      { collection: 'track', action: 'read', permissions: { genre_id: { _eq: 1 } } },
      { collection: 'album', action: 'read', fields: ['album_id', 'title'] },
      { collection: 'album', action: 'update', fields: ['title'] },
    ]);
    documents = {
      public: await readDocument(service),
      user: await readDocument(service, user.token),
      admin: await readDocument(service, service.admin.token),
    };
  });
  after(async () => {
    await service?.stop();
    await database?.drop();
  });

  for (const caller of ['public', 'user', 'admin'] as const) {
    it(`of ${caller} is valid OpenAPI 3.1`, async () => {
      const { valid, errors } = await new Validator().validate(JSON.parse(JSON.stringify(documents[caller])));
      expect(errors, JSON.stringify(errors)?.slice(0, 1000)).to.equal(undefined);
      expect(valid).to.equal(true);
    });

    it(`of ${caller} has each operationId once`, () => {
      const ids = listOperations(documents[caller]).map(({ operation }) => operation.operationId);
      expect(ids.filter((id, at) => ids.indexOf(id) !== at)).to.deep.equal([]);
    });

    it(`of ${caller} has a component for each reference, and names each tag`, () => {
      const document = documents[caller];
      const references = [...JSON.stringify(document).matchAll(/"\$ref":"#\/components\/(\w+)\/([^"]+)"/g)];
      const missing = references.filter(([, kind, name]) => !document.components[kind as string]?.[name as string]);
      expect(missing.map(([text]) => text)).to.deep.equal([]);
      const tags = new Set(document.tags.map(({ name }) => name));
      const unnamed = listOperations(document).flatMap(({ operation }) =>
        operation.tags.filter((tag) => !tags.has(tag)),
      );
      expect(unnamed).to.deep.equal([]);
    });
  }

  describe('beside the table of routes', () => {
    const toTemplate = (path: string) => path.replace(/:(\w+)/g, '{$1}');
    /** Routes that only refuse other methods of a path are no operations. */
    const isOperation = ({ method, description }: Awaited<ReturnType<typeof readCorePluginRoutes>>[number]) =>
      method !== '*' || Object.keys(description.answers).length > 0;
    const titleOf = (method: string, path: string) => `${method === '*' ? 'OPTIONS' : method} ${path}`;
    let routes: Awaited<ReturnType<typeof readCorePluginRoutes>>;
    before(async () => {
      routes = (await readCorePluginRoutes({ TUS_ENABLED: 'true' })).filter(isOperation);
    });

    it('of an admin has an operation for each route, and no other', () => {
      const documented = new Set(
        listOperations(documents.admin).map(({ method, path }) =>
          titleOf(method, path.replace(/^\/items\/[^/{]+/, '/items/{collection}')),
        ),
      );
      const contributed = new Set(routes.map(({ method, path }) => titleOf(method, toTemplate(path))));
      expect([...contributed].filter((one) => !documented.has(one))).to.deep.equal([]);
      expect([...documented].filter((one) => !contributed.has(one))).to.deep.equal([]);
      expect(contributed.size).to.be.above(150);
    });

    it('of the public has an operation for each route that is not of a collection', () => {
      const documented = new Set(listOperations(documents.public).map(({ method, path }) => titleOf(method, path)));
      const others = routes.filter(({ description }) => description.collection === undefined);
      const missing = others
        .map(({ method, path }) => titleOf(method, toTemplate(path)))
        .filter((one) => !documented.has(one));
      expect(missing).to.deep.equal([]);
      expect(documented.size).to.equal(
        new Set(others.map(({ method, path }) => titleOf(method, toTemplate(path)))).size,
      );
    });

    it('has the error codes of each route under their status', () => {
      const { responses = {}, schemas = {} } = documents.admin.components;
      const codesOf = (response: { readonly $ref?: unknown }): readonly string[] => {
        const name = String(response.$ref ?? '').replace('#/components/responses/', '');
        const code = /"enum":(\[[^\]]*\])/.exec(JSON.stringify(responses[name] ? schemas[name] : {}));
        return code ? JSON.parse(code[1] as string) : [];
      };
      const wrong = routes
        .filter(({ description }) => description.collection !== '{collection}')
        .flatMap((route) => {
          const operation = listOperations(documents.admin).find(
            ({ method, path }) => titleOf(method, path) === titleOf(route.method, toTemplate(route.path)),
          )?.operation;
          return [...errorCodesOf(route)]
            .filter((code) => {
              const { status } = ERRORS[code];
              return !route.description.answers[status] && !codesOf(operation?.responses[status] ?? {}).includes(code);
            })
            .map((code) => `${route.method} ${route.path}: ${code}`);
        });
      expect(wrong).to.deep.equal([]);
    });
  });

  it('has schemas that the rows of every collection match, with related rows as well', async () => {
    const check = createSchemaCheck(documents.admin);
    const names = documents.admin.tags.flatMap(({ name, 'x-collection': collection }) =>
      name.startsWith('Items') && collection ? [[name, collection] as const] : [],
    );
    expect(names).to.have.length(11);
    const lists = [
      ...names.map(([schema, collection]) => [schema, `/items/${collection}`] as const),
      ['PlatformUsers', '/users'] as const,
      ['PlatformRoles', '/roles'] as const,
      ['PlatformPermissions', '/permissions'] as const,
      ['PlatformActivity', '/activity'] as const,
      ['PlatformRevisions', '/revisions'] as const,
    ];
    const wrong: string[] = [];
    for (const [schema, path] of lists) {
      const { body } = await service.request('GET', `${path}?fields=*,*.*&limit=50`, { token: service.admin.token });
      expect(body.data, path).to.have.length.above(0);
      for (const row of body.data) {
        const mismatch = check(schema, row);
        if (mismatch) wrong.push(`${path}: ${mismatch}`);
      }
    }
    expect(wrong).to.deep.equal([]);
  });

  describe('in a public generator of clients', () => {
    let folder: string;
    before(async () => {
      // Inside of the project, so that the client finds the runtime of its generator.
      folder = await mkdtemp(join(projectRoot, 'node_modules/.openapi-client-'));
    });
    after(() => rm(folder, { recursive: true, force: true }));

    it('makes a client that compiles with strict types', async () => {
      await writeFile(join(folder, 'openapi.json'), JSON.stringify(documents.admin));
      const client = join(folder, 'client.ts');
      await run(process.execPath, [
        join(projectRoot, 'node_modules/oazapfts/dist/cli.js'),
        join(folder, 'openapi.json'),
        client,
      ]);
      const use = `
        import { readItemsTrack, createItemsTrack, type ItemsTrack } from './client.ts';
        const nameOf = (one: ItemsTrack): string | undefined => one.name;
        const page = await readItemsTrack({ limit: 3, fields: ['name', 'album_id.title'], filter: { milliseconds: { _gt: 1000 } } });
        if (page.status === 200 && 'data' in page.data) page.data.data.map(nameOf);
        await createItemsTrack({ name: 'Naima', media_type_id: 1, milliseconds: 1, unit_price: '0.99' });
        // @ts-expect-error A name is a text.
        const wrong: ItemsTrack = { name: 1 };
        export { wrong };`;
      await writeFile(join(folder, 'use.ts'), use);
      const options = {
        compilerOptions: {
          ...{ strict: true, noEmit: true, target: 'es2022', module: 'esnext', moduleResolution: 'bundler' },
          ...{ lib: ['es2022', 'dom', 'dom.iterable'], types: [], allowImportingTsExtensions: true },
        },
        files: ['client.ts', 'use.ts'],
      };
      await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(options));
      const compiler = join(projectRoot, 'node_modules/.bin/tsc');
      const { stdout } = await run(compiler, ['-p', folder]).catch((error) => error);
      expect(stdout).to.equal('');
      expect(await readFile(client, 'utf8')).to.include('export function readItemsTrack(');
    });
  });

  it('describes the routes of all optional features', async () => {
    const routes = await readCorePluginRoutes(OPTIONAL_FEATURES);
    expect(routes.filter(({ path }) => path.startsWith('/server/specs/oas'))).to.have.length(3);
  });
});
