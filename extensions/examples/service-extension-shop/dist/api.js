import { defineEventHook, defineFlowOperation, defineJsonEndpoint } from '@tenon/extension-sdk';

const orders = defineJsonEndpoint({
  id: 'shop-orders',
  async handler({ query }, { host }) {
    const filter = { state: { _eq: query.state ?? 'new' } };
    const rows = await host.items.readMany('orders', { fields: ['id', 'total', 'state'], filter, limit: 20 });
    if (rows.ok) return { body: rows.value };
    return { status: rows.error.code === 'denied' ? 403 : 502, body: { message: rows.error.code } };
  },
});

const stamp = defineEventHook({
  id: 'shop-stamp',
  filters: {
    'orders.items.create': (payload) => ({ ...payload, state: 'new' }),
  },
});

const total = defineFlowOperation({
  id: 'shop-total',
  handler({ options, input }) {
    const rows = Array.isArray(input) ? input : [];
    const field = String(options.field ?? 'total');
    return { total: rows.reduce((sum, row) => sum + Number(row[field] ?? 0), 0), rows: rows.length };
  },
});

export default {
  'endpoint:shop-orders': orders,
  'hook:shop-stamp': stamp,
  'operation:shop-total': total,
};
