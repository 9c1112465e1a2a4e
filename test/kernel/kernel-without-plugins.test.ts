import { expect } from 'chai';
import { createSender } from '../support/send.ts';
import { withBootedTestPlugins } from '../support/test-plugins.ts';

describe('a kernel without plugins', () => {
  it('answers 404 ROUTE_NOT_FOUND with a request id and stops', async () => {
    let url = '';
    await withBootedTestPlugins([], async ({ kernel }) => {
      await kernel.migrate();
      await kernel.start();
      url = `http://127.0.0.1:${(await kernel.listen()).port}`;
      const reply = await createSender(url)('GET', '/items/anything');
      expect(reply.status).to.equal(404);
      expect(reply.body.errors).to.deep.equal([
        {
          message: "Route /items/anything doesn't exist.",
          extensions: { path: '/items/anything', code: 'ROUTE_NOT_FOUND' },
        },
      ]);
      expect(reply.headers.get('x-request-id')).to.match(/^[\w-]+$/);
    });
    const error = await fetch(url).catch((reason) => reason);
    expect(error.cause.code).to.equal('ECONNREFUSED');
  });
});
