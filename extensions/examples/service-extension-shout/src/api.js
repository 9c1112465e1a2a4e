import { defineFlowOperation } from '@tenon/extension-sdk';

export default defineFlowOperation({
  id: 'shout',
  async handler({ options, input }, { host }) {
    const text = await host.template.renderLiquid(String(options.template ?? '{{ input }}'), { input });
    if (!text.ok) throw new Error('the template cannot be filled');
    return { text: text.value.toUpperCase() };
  },
});
