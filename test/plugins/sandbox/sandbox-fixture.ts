import { authorities, type Capability, capabilities, fail, type LedgerEntry, type Log, requestScope } from '#kernel';
import {
  broker,
  type ConfinedCodeInvocation,
  type PackageGrantBroker,
  type PackageHandle,
  type RemoteCapabilityMethods,
  remoteMethods,
} from '../../../plugins/broker/contract.ts';
import { BrokerRefusal } from '../../../plugins/broker/library.ts';
import type { GuestProgram, InvocationRequest, Sandbox } from '../../../plugins/sandbox/contract.ts';
import type { GuestFailure } from '../../../plugins/sandbox/library.ts';
import { createSandbox } from '../../../plugins/sandbox/service.ts';
import { createConfinedChildLauncher } from '../../../sandbox/host/launch/launcher.ts';
import { type BootedKernel, type TestPlugin, withBootedTestPlugins } from '../../support/test-plugins.ts';

type SandboxConfig = Parameters<typeof createSandbox>[0];
/** A function that creates the launcher of the service `sandbox`: the real one or a fake. */
export type CreateLauncher = Parameters<typeof createSandbox>[1];
export type SandboxLauncher = Awaited<ReturnType<CreateLauncher>>;
export type SandboxLauncherOptions = Parameters<CreateLauncher>[0];

/** State of the test capability, whose methods confined code calls as `desk.<method>`. */
export interface DeskCapabilityState {
  readonly seen: { invocation: ConfinedCodeInvocation; scope: string | undefined }[];
  /** Calls in flight; `aborted` counts those whose signal has aborted. */
  working: number;
  aborted: number;
  release: () => void;
}

export const createDeskCapabilityState = (): DeskCapabilityState => ({
  seen: [],
  working: 0,
  aborted: 0,
  release: () => {},
});

const createCapability = (name: string, desk: DeskCapabilityState): Capability<true, DeskCapabilityState> => ({
  name,
  schema: { const: true },
  bind: () => desk,
  describe: () => authorities('runs', ['the desk']),
  widens: (before) => before === undefined,
});

const createMethods = (desk: DeskCapabilityState): RemoteCapabilityMethods['methods'] => {
  const any = { type: 'array' } as const;
  const freed = new Promise<void>((resolve) => {
    desk.release = resolve;
  });
  return {
    echo: { args: any, call: (_desk: DeskCapabilityState, _invocation, value: unknown) => value },
    text: { args: { type: 'array', items: { type: 'string' } }, call: () => 'text' },
    look: {
      args: any,
      call({ seen }: DeskCapabilityState, invocation) {
        seen.push({ invocation, scope: requestScope.getStore()?.id });
        return invocation.caller;
      },
    },
    wait: {
      args: any,
      async call(desk: DeskCapabilityState, { signal }) {
        desk.working++;
        signal.addEventListener('abort', () => void desk.aborted++);
        await freed;
        desk.working--;
        return 'waited';
      },
    },
    circle: {
      args: any,
      call() {
        const circle: unknown[] = [];
        circle.push(circle);
        return circle;
      },
    },
    long: { args: any, call: (_desk: DeskCapabilityState, _invocation, size: number) => 'x'.repeat(size) },
    short: { args: any, maxReply: 10, call: () => 'longer than that' },
    refuse: {
      args: any,
      call() {
        throw new BrokerRefusal('not_found', 'There is none.', { of: 'what' });
      },
    },
    forbid: {
      args: any,
      call() {
        throw fail('FORBIDDEN', 'a reason for the log');
      },
    },
    break: {
      args: any,
      call() {
        throw new Error('an inner detail');
      },
    },
  };
};

export interface SandboxFixture {
  readonly sandbox: Sandbox;
  readonly desk: DeskCapabilityState;
  readonly log: readonly Record<string, unknown>[];
  readonly ledger: () => readonly LedgerEntry[];
  readonly parked: { code: string; detail: string }[];
  registerPackage(grants?: Record<string, unknown>): PackageHandle;
  open(script: string, more?: { brokerAccess?: PackageHandle; reuse?: boolean }): GuestProgram;
}

const DEFAULT_CONFIG: SandboxConfig = {
  EXTENSIONS_SANDBOX_TIMEOUT: '10s',
  EXTENSIONS_SANDBOX_MAX_MEMORY: '64mb',
  EXTENSIONS_SANDBOX_MAX_PROCESSES: undefined,
  EXTENSIONS_SANDBOX_MAX_RESULT: '1mb',
  EXTENSIONS_SANDBOX_MAX_HOST_API_CALL: '256kb',
  EXTENSIONS_SANDBOX_MAX_ARTIFACT: '8mb',
  EXTENSIONS_SANDBOX_OS_HARDENING: 'auto',
};

const silent = { debug() {}, info() {}, warn() {}, error() {} } as unknown as Log;

/** Creates the service `sandbox` with default settings, except those in `config`. */
export const createTestSandbox = (launch: CreateLauncher, config: Partial<SandboxConfig>, log = silent) =>
  createSandbox({ ...DEFAULT_CONFIG, ...config }, launch, log);

export type SandboxLauncherChild = ReturnType<SandboxLauncher['launch']>;

/** A launcher of real confined processes, which run `program`, by default the runner; `onLaunch` receives each process. */
export const createRealLauncherFactory =
  (onLaunch: (child: SandboxLauncherChild) => void, program?: string): CreateLauncher =>
  async (options) => {
    const launcher = await createConfinedChildLauncher(options);
    return {
      posture: launcher.posture,
      close: () => launcher.close(),
      launch() {
        const child = program === undefined ? launcher.launch() : launcher.launchProgram(program);
        onLaunch(child);
        return child;
      },
    };
  };

/** Runs `work` with the service `sandbox` and a kernel that has the test capability `desk`, and stops both afterwards. */
export async function withSandbox(
  launch: CreateLauncher,
  config: Partial<SandboxConfig>,
  work: (ground: SandboxFixture) => Promise<void>,
): Promise<void> {
  const desk = createDeskCapabilityState();
  let subjects: PackageGrantBroker | undefined;
  const owner: TestPlugin = {
    name: 'desk',
    manifest: {
      uses: { broker: '^1.0.0' },
      contributes: { capabilities: { names: ['desk', 'template'] }, 'broker.methods': {} },
    },
    register(host) {
      const methods = createMethods(desk);
      for (const name of ['desk', 'template']) host.contribute(capabilities, createCapability(name, desk));
      host.contribute(remoteMethods, { capability: 'desk', methods });
      // The real runner offers only the methods of the specification, so `desk.look` is also `template.renderLiquid`.
      const { look } = methods;
      if (look) host.contribute(remoteMethods, { capability: 'template', methods: { renderLiquid: look } });
      subjects = host.use({ broker }).broker;
    },
  };
  const run = async ({ kernel, log }: BootedKernel): Promise<void> => {
    const own = kernel.log.child({ owner: 'sandbox' });
    const { sandbox, stop } = createTestSandbox(launch, config, own);
    const parked: SandboxFixture['parked'] = [];
    const registerPackage = (grants: Record<string, unknown> = { desk: true, log: true }) =>
      (subjects as PackageGrantBroker).register({ name: 'ext', version: '1.0.0', runtime: 'confined', grants });
    try {
      await work({
        sandbox,
        desk,
        log,
        ledger: () => kernel.ledger.entries(),
        parked,
        registerPackage,
        open: (script, { brokerAccess = registerPackage(), reuse = false } = {}) =>
          sandbox.open({ brokerAccess, script, reuse, onParked: (reason) => void parked.push(reason) }),
      });
    } finally {
      desk.release();
      await stop();
    }
  };
  await withBootedTestPlugins([owner], run, { product: ['broker'], environment: { LOG_LEVEL: 'debug' } });
}

export const createTestInvocationRequest = (
  input: unknown = null,
  more: Partial<InvocationRequest> = {},
): InvocationRequest => ({
  entry: '',
  contributionId: 'ext',
  activation: { type: 'json-endpoint' },
  caller: null,
  input: JSON.stringify(input),
  ...more,
});

/** Resolves with the error code of a failed invocation, `none` for a successful one. */
export const getFailureCode = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => 'none',
    (error: GuestFailure) => error.code ?? String(error),
  );
