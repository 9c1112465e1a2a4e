import { defineJsonEndpoint } from '@tenon/extension-sdk';

export default defineJsonEndpoint({
  id: 'shop-orders',
  async handler({ query }, { host }) {
    const filter = { state: { _eq: query.state ?? 'new' } };
    const rows = await host.items.readMany('orders', { fields: ['id', 'total', 'state'], filter, limit: 20 });
    if (rows.ok) return { body: rows.value };
    return { status: rows.error.code === 'denied' ? 403 : 502, body: { message: rows.error.code } };
  },
});
