import { randomUUID } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { type InProcessService, startService } from '../../../support/service.ts';
import { createUserSender, type SendAsUser } from '../../users/test-users.ts';
import { createTestFlow } from '../flow-fixture.ts';
import {
  createRandomChain,
  createRandomSource,
  createSecret,
  type RandomOperation,
  SECRET_PLACES,
} from './random-chains.ts';
import { encodedTextsOf, formsOf } from './secret-forms.ts';

const SEED = Number(process.env.FLOW_SEED ?? 1);
const CHAINS = Number(process.env.FLOW_CHAINS ?? 150);
/** Chains that are created, run and searched together. */
const BATCH = 50;

interface PreparedChain {
  readonly flow: string;
  readonly secret: string;
  readonly operations: readonly RandomOperation[];
  readonly returns: string;
  run(): Promise<string>;
}

describe('secrets in random chains', function () {
  this.timeout(120_000 + CHAINS * 1000);
  let service: InProcessService;
  let admin: SendAsUser;
  let echo: string;
  let server: Server;
  /** Lines of the log that were searched already. */
  let logged = 0;
  before(async () => {
    // It sends back what it gets, also in a place where a token is, and fails where the path says so.
    server = createServer(async (request, response) => {
      const body = await text(request);
      response.writeHead(Number(request.url?.slice(1)), { 'content-type': 'application/json' });
      response.end(JSON.stringify({ got: body, nested: { again: [body] } }));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    service = await startService({
      env: { LOG_LEVEL: 'debug', RATE_LIMITER_ENABLED: 'false', IMPORT_IP_ALLOW_LIST: '127.0.0.1' },
    });
    admin = createUserSender(service, service.admin.token);
    echo = await createTestFlow(admin, {
      trigger: 'operation',
      options: { return: '$last' },
      steps: [
        { key: 'again', type: 'transform', options: { json: { got: '{{ $trigger }}', text: 'x{{ $trigger }}' } } },
      ],
    });
  });
  after(async () => {
    await service?.stop();
    server?.close();
  });

  function prepare(seed: number): PreparedChain {
    const random = createRandomSource(seed);
    const place = random.pick(SECRET_PLACES);
    const secret = createSecret(random, place);
    const encoded = encodedTextsOf(secret);
    const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const operations = createRandomChain(random, place, { echo, server: address, encodings: encoded.length });
    const flow = randomUUID();
    const { headers = {}, body = {}, query = '' } = place.request(secret);
    const returns = random.pick(['$all', '$last', operations[0]?.key as string]);
    return {
      flow,
      secret,
      operations,
      returns,
      async run() {
        const reply = await fetch(`${service.url}/flows/trigger/${flow}${query}`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', ...headers },
          body: JSON.stringify({ ...body, encoded }),
        });
        const answer = await reply.text();
        expect(reply.status, answer).to.be.oneOf([200, 204]);
        // The value of one operation is for the client that has sent the secret; the whole data of the run is not.
        return returns === '$all' ? answer : '';
      },
    };
  }

  /** Creates the flows by SQL, and waits until the service knows them. */
  async function create(chains: readonly PreparedChain[]): Promise<void> {
    const flows = chains.map(({ flow, returns, operations }) => ({
      id: flow,
      options: { method: 'POST', return: returns },
      operation: operations[0]?.id,
    }));
    const operations = chains.flatMap(({ flow, operations: all }) => all.map((one) => ({ ...one, flow })));
    await service.database.query(
      `with flows as (
        insert into platform_flows (id, name, status, trigger, accountability, options)
        select id, 'random', 'active', 'webhook', 'all', options
        from json_to_recordset($1) as one(id uuid, options json))
      insert into platform_operations (id, key, type, options, flow)
      select id, key, type, options, flow
      from json_to_recordset($2) as one(id uuid, key text, type text, options json, flow uuid)`,
      [JSON.stringify(flows), JSON.stringify(operations)],
    );
    await service.database.query(
      `update platform_operations o set resolve = one.resolve, reject = one.reject
        from json_to_recordset($1) as one(id uuid, resolve uuid, reject uuid) where one.id = o.id`,
      [JSON.stringify(operations)],
    );
    await service.database.query(
      `update platform_flows f set operation = one.operation
        from json_to_recordset($1) as one(id uuid, operation uuid) where one.id = f.id`,
      [JSON.stringify(flows)],
    );
    // A change by the service is answered when the flows that were changed before it are known as well.
    await admin('PATCH', `/flows/${echo}`, { name: `echo of ${chains[0]?.flow}` });
  }

  /** Everything that is kept of these flows, and what the service shows of them to others. */
  async function keptOf(
    chains: readonly PreparedChain[],
  ): Promise<{ readonly text: string; readonly revisions: number }> {
    const ids = [...chains.map(({ flow }) => flow), echo];
    const revisions = await service.database.query('select * from platform_revisions where item = any($1)', [ids]);
    const shown = await Promise.all(
      chains.map(async ({ flow }) => [
        await admin('GET', `/flows/${flow}/runs`),
        // A client without the secret triggers the flow as well.
        await service.request('POST', `/flows/trigger/${flow}`, { token: null, body: {} }),
      ]),
    );
    const kept = [
      revisions,
      await service.database.query('select * from platform_activity where item = any($1)', [ids]),
      await service.database.query('select * from platform_flow_runs where flow = any($1)', [ids]),
      shown.flat().map(({ body }) => body),
      service.log.slice(logged),
    ];
    logged = service.log.length;
    return { text: JSON.stringify(kept), revisions: revisions.length };
  }

  function findLeaks({ flow, secret, operations }: PreparedChain, seed: number, text: string): readonly string[] {
    return Object.entries(formsOf(secret)).flatMap(([encoding, forms]) => {
      const form = forms.find((one) => text.includes(one) || text.includes(JSON.stringify(one).slice(1, -1)));
      if (form === undefined) return [];
      const at = text.indexOf(form);
      const around = text.slice(Math.max(0, at - 200), at + form.length + 50);
      return [`FLOW_SEED=${seed} FLOW_CHAINS=1, flow ${flow}: ${encoding}\n${around}\n${JSON.stringify(operations)}`];
    });
  }

  it(`no byte of ${CHAINS} secrets is in rows, revisions, activity, logs or answers to others (FLOW_SEED=${SEED})`, async () => {
    for (let from = 0; from < CHAINS; from += BATCH) {
      const seeds = Array.from({ length: Math.min(BATCH, CHAINS - from) }, (_, at) => SEED + from + at);
      const chains = seeds.map(prepare);
      await create(chains);
      const answers: string[] = [];
      for (const chain of chains) answers.push(await chain.run());
      const kept = await keptOf(chains);
      expect(kept.revisions).to.be.at.least(chains.length);
      expect(kept.text).to.include('--redact--');
      const text = kept.text + JSON.stringify(answers);
      const leaks = chains.flatMap((chain, at) => findLeaks(chain, seeds[at] as number, text));
      expect(leaks.slice(0, 3).join('\n\n'), `${leaks.length} leaks`).to.equal('');
      await service.database.query('delete from platform_flows where id = any($1)', [chains.map(({ flow }) => flow)]);
    }
  });
});
