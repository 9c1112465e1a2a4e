import { expect } from 'chai';
import { createHostResolver, type ResolveHost } from '../../../plugins/outbound/host-resolver.ts';

describe('createResolver', () => {
  const createPendingLookups = () => {
    const lookedUp: string[] = [];
    const open: ((addresses: Awaited<ReturnType<ResolveHost>> | Error) => void)[] = [];
    const find: ResolveHost = (host) => {
      lookedUp.push(host);
      return new Promise((resolve, reject) =>
        open.push((answer) => (answer instanceof Error ? reject(answer) : resolve(answer))),
      );
    };
    return { lookedUp, open, find };
  };
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  const here = [{ address: '192.0.2.1', family: 4 }];

  it('concurrent requests share one lookup of a name, and at most two names are looked up at a time', async () => {
    const { lookedUp, open, find } = createPendingLookups();
    const resolve = createHostResolver(find);
    const all = ['slow.example', 'slow.example', 'slower.example', 'fast.example', 'slow.example'].map((host) =>
      resolve(host),
    );
    await settle();
    expect(lookedUp).to.deep.equal(['slow.example', 'slower.example']);
    open[1]?.(here);
    await settle();
    expect(lookedUp.at(-1)).to.equal('fast.example');
    open[0]?.(here);
    open[2]?.(here);
    expect(await Promise.all(all)).to.deep.equal([here, here, here, here, here]);
    void resolve('slow.example');
    expect(lookedUp.filter((host) => host === 'slow.example')).to.have.length(2);
  });

  it('a name that cannot be resolved is not looked up again for two seconds', async () => {
    let now = 0;
    const { lookedUp, open, find } = createPendingLookups();
    const resolve = createHostResolver(find, () => now);
    const failure = (host: string) =>
      resolve(host).then(
        () => 'none',
        () => 'failed',
      );
    const first = failure('gone.example');
    open[0]?.(new Error('ENOTFOUND'));
    expect(await first).to.equal('failed');
    expect(await failure('gone.example')).to.equal('failed');
    expect(lookedUp).to.have.length(1);
    now = 2_000;
    void failure('gone.example');
    expect(lookedUp).to.have.length(2);
  });
});
