import { ALLOW_LOOPBACK, type CountingServer, startCountingServer } from '../../support/counting-server.ts';
import { type InProcessService, startService } from '../../support/service.ts';
import { createUserSender, type SendAsUser } from '../users/test-users.ts';
import { createTestFlow, type TestStep } from './flow-fixture.ts';

/** A service with the collection `tags` (`id`, `name`), and a server that counts what its flows request. */
export interface RequestFlowService {
  readonly service: InProcessService;
  readonly admin: SendAsUser;
  readonly server: CountingServer;
  /** Creates a flow of these steps that runs before a tag is created, as part of the write. */
  filterFlow(...steps: TestStep[]): Promise<string>;
}

const TAG_FIELDS = [
  { field: 'id', type: 'integer', schema: { is_primary_key: true, has_auto_increment: true } },
  { field: 'name', type: 'text', schema: { is_nullable: false } },
];

/**
 * Starts both for the tests of the surrounding `describe` and stops them after it. `use` receives them once they run. Before each test the
 * server answers 200 and has counted nothing; after it there are no flows and no tags.
 */
export function setUpRequestFlows(
  env: Readonly<Record<string, string>>,
  use: (started: RequestFlowService) => void,
): void {
  let service: InProcessService;
  let server: CountingServer;
  let admin: SendAsUser;
  before(async () => {
    server = await startCountingServer();
    service = await startService({ env: { ...ALLOW_LOOPBACK, ...env } });
    admin = createUserSender(service, service.admin.token);
    await admin('POST', '/collections', { collection: 'tags', schema: {}, fields: TAG_FIELDS });
    const options = { type: 'filter', scope: ['items.create'], collections: ['tags'] };
    const filterFlow = (...steps: TestStep[]) => createTestFlow(admin, { trigger: 'event', options, steps });
    use({ service, admin, server, filterFlow });
  });
  beforeEach(() => {
    server.requests.length = 0;
    server.answer = () => 200;
  });
  afterEach(async () => {
    await admin('DELETE', '/flows', { query: { limit: -1 } });
    await service.database.query('truncate tags restart identity');
  });
  after(async () => {
    await service?.stop();
    await server?.stop();
  });
}
