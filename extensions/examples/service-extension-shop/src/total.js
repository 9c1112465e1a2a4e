import { defineFlowOperation } from '@tenon/extension-sdk';

export default defineFlowOperation({
  id: 'shop-total',
  handler({ options, input }) {
    const rows = Array.isArray(input) ? input : [];
    const field = String(options.field ?? 'total');
    return { total: rows.reduce((sum, row) => sum + Number(row[field] ?? 0), 0), rows: rows.length };
  },
});
