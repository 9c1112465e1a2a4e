// Rows of the product itself.
// @capabilities {"items":{"accountability":"full-access"}}
export default {
  id: 'reach-system-rows',
  async handler(input, context) {
    const answers = [];
    for (const name of ['platform_users', 'platform_roles', 'platform_sessions', 'PLATFORM_USERS', 'pg_catalog.pg_authid', 'secrets; select 1', '__proto__', 'constructor']) {
      const answer = await context.host.items.readMany(name);
      answers.push(answer.ok ? `ESCAPED: ${name}` : answer.error.code);
    }
    return { body: answers };
  },
};
