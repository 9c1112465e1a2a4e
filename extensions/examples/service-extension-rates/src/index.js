import { defineJsonEndpoint } from '@tenon/extension-sdk';

const CURRENCY = /^\/[A-Z]{3}$/;

export default defineJsonEndpoint({
  id: 'rates',
  async handler({ path }, { host }) {
    if (!CURRENCY.test(path)) return { status: 400, body: { message: 'Name a currency, for example /rates/EUR.' } };
    const token = await host.settings.get('api_token');
    const isSet = token.ok && typeof token.value === 'object' && token.value !== null;
    const auth = isSet ? { auth: { bearer: token.value } } : {};
    const answer = await host.request.send({ url: `https://rates.example.com/v1${path}`, ...auth });
    if (!answer.ok || answer.value.status !== 200) {
      host.log.warn('no rate', { path, why: answer.ok ? answer.value.status : answer.error.code });
      return { status: 502, body: { message: 'The rate is not to be had at the moment.' } };
    }
    return { body: answer.value.body };
  },
});
