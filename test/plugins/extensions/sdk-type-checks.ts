import {
  defineEndpoint,
  defineEventHook,
  defineFlowOperation,
  defineHook,
  defineJsonEndpoint,
  defineOperationApi,
  type SecretReference,
} from '../../../extensions/sdk/index.ts';

/** Extensions as authors write them, and lines that must be type errors. `sdk.test.ts` compiles this file; no test runs it. */

export const endpoint = defineJsonEndpoint({
  id: 'orders',
  async handler({ method, path, query, body }, { accountability, activation, extensionId, contributionId, host }) {
    const texts: string[] = [method, path, query.page ?? '', activation.type, extensionId, contributionId];
    if (accountability?.admin) host.log.info('an admin', { user: accountability.user, role: accountability.role });
    const rows = await host.items.readMany('orders', { fields: ['id'], filter: { id: { _gt: 1 } }, limit: 10 });
    if (!rows.ok) return { status: 502, body: rows.error.code };
    const token = await host.settings.get<SecretReference>('token');
    const auth = token.ok && token.value ? { auth: { bearer: token.value } } : {};
    const answer = await host.request.send({ url: 'https://api.example.com', method: 'POST', body, ...auth });
    const text = await host.template.renderLiquid('{{ name }}', { name: 'a' }, { delimiters: { tagLeft: '[%' } });
    return { body: { rows: rows.value.length, answer: answer.ok && answer.value.status, text, texts } };
  },
});

/** The type argument is the manifest's `capabilities`: `host` has these and `settings`, and no others. */
export const endpointWithCapabilities = defineJsonEndpoint<{ log: true; endpoint: { access: 'public' } }>({
  id: 'narrow',
  async handler(_request, { host }) {
    host.log.warn('here');
    // @ts-expect-error the manifest does not declare the capability request
    await host.request.send({ url: 'https://api.example.com' });
    return { body: await host.settings.get('color') };
  },
});

// @ts-expect-error an endpoint has an id
export const nameless = defineJsonEndpoint({ handler: () => ({ body: 1 }) });

// @ts-expect-error a status is a number
export const endpointWithTextStatus = defineJsonEndpoint({ id: 'a', handler: () => ({ status: 'ok' }) });

export const endpointWithInvalidCalls = defineJsonEndpoint({
  id: 'a',
  async handler(request, { host }) {
    // @ts-expect-error requests have no headers
    void request.headers;
    // @ts-expect-error a secret is sent by reference
    await host.request.send({ url: 'https://api.example.com', auth: { bearer: 'text' } });
    // @ts-expect-error queries of confined code have no `deep`
    return { body: await host.items.readMany('orders', { deep: {} }) };
  },
});

export const hook = defineEventHook({
  id: 'stamp',
  filters: { 'orders.items.create': (payload, meta) => ({ ...payload, from: meta.collection }) },
  actions: {
    async 'orders.items.create'(meta, { host, activation }) {
      host.log.info(activation.event ?? '', { key: meta.key });
      await host.items.deleteOne('drafts', 1);
    },
  },
});

export const operation = defineFlowOperation({
  id: 'total',
  handler: ({ options, input }) => ({ field: options.field, rows: Array.isArray(input) ? input.length : 0 }),
});

export const full = defineEndpoint({
  id: 'desk',
  handler(router, { services, exceptions, database, getSchema, env, logger, emitter, extensionSettings }) {
    router.use((req, _res, next) => (req.accountability?.user ? next() : next(new exceptions.ForbiddenException())));
    router.get('/:id', async (req, res, next) => {
      try {
        const options = { schema: await getSchema({ database }), accountability: req.accountability };
        logger.info(env.PUBLIC_URL);
        emitter.emitAction('desk.read', { by: await extensionSettings.get('name') });
        res.status(200).json(await new services.ItemsService('desk', options).readOne(req.params.id));
      } catch (error) {
        next(error);
      }
    });
    router.patch('/', (_req, res) => res.send('')).put('/', (_req, res) => res.send(''));
    router.post('/', (_req, res) => res.send('')).delete('/', (_req, res) => res.send(''));
  },
});

export const fullEndpointFunction = defineEndpoint((router) => void router.get('/', (_req, res) => res.send('hello')));

export const fullHook = defineHook(({ filter, action, init, schedule, embed }, { logger }) => {
  filter('items.create', (payload, meta, { accountability }) => ({
    ...payload,
    by: accountability?.user,
    on: meta.event,
  }));
  action('items.create', async ({ key }, { database, schema }) => logger.info({ key, schema }, await database('a')));
  init('app.after', () => logger.info('ready'));
  schedule('*/5 * * * *', async () => logger.info('five minutes'));
  embed('head', () => '<style></style>');
  // @ts-expect-error the position is head or body
  embed('foot', '');
});

export const fullAuthorityOperation = defineOperationApi({
  id: 'mine',
  handler: ({ text }, { data, accountability, services }) => [text, data.$last, accountability, services.ItemsService],
});
