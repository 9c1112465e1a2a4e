import { defineEventHook } from '@tenon/extension-sdk';

export default defineEventHook({
  id: 'shop-stamp',
  filters: {
    'orders.items.create': (payload) => ({ ...payload, state: 'new' }),
  },
});
