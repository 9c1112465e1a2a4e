export type TimedPhase = 'migrate' | 'start' | 'stop';
export type BootPhase = TimedPhase | 'discover' | 'validate' | 'config' | 'grant' | 'order' | 'register' | 'listen';

/** Why a plugin or the process does not start: plugin, phase, the reason as message, and a remedy. */
export class BootFailure extends Error {
  readonly plugin: string;
  readonly phase: BootPhase;
  readonly remedy: string | undefined;

  constructor(plugin: string, phase: BootPhase, reason: string, options: { remedy?: string; cause?: unknown } = {}) {
    super(reason, { cause: options.cause });
    this.name = 'BootFailure';
    this.plugin = plugin;
    this.phase = phase;
    this.remedy = options.remedy;
  }

  /** Converts an error that stops a phase to a BootFailure of this plugin and phase; a BootFailure is returned as it is. */
  static from(plugin: string, phase: BootPhase, error: unknown): BootFailure {
    if (error instanceof BootFailure) return error;
    const reason = error instanceof Error ? ((error as { detail?: string }).detail ?? error.message) : String(error);
    const remedy = (error as { remedy?: string } | null)?.remedy;
    return new BootFailure(plugin, phase, reason, { remedy, cause: error });
  }
}

/** `wrong` are the problems found in a manifest, one sentence each. @throws BootFailure if there are any. */
export function assertNoManifestProblems(plugin: string, wrong: readonly string[]): void {
  if (wrong.length === 0) return;
  const reason = `its manifest asks for what does not exist:\n${wrong.join('\n')}`;
  throw new BootFailure(plugin, 'validate', reason, { remedy: 'correct the named members under "service:extension"' });
}

/** `wrong` are the problems found in the settings of a plugin, one sentence each. @throws BootFailure if there are any. */
export function assertNoSettingsProblems(owner: string, wrong: readonly string[]): void {
  if (wrong.length) throw new BootFailure(owner, 'config', wrong.join('\n'), { remedy: 'correct the named settings' });
}
