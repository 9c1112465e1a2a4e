import type { AuthClientInfo } from './driver.ts';

/** A sign-in whose credential is verified, as the steps receive it before the session is opened. */
export interface VerifiedSignIn {
  readonly user: {
    readonly id: string;
    /** `active`, or why the user may not sign in: `suspended`, `archived`, `invited`, `draft`. */
    readonly status: string;
    readonly role: string | null;
    /** The user has set up a second factor. */
    readonly hasSecondFactor: boolean;
  };
  readonly provider: string;
  /** The name of the driver that verified the credential. */
  readonly driver: string;
  /** The driver has verified two factors at once: no step needs to verify a second one. */
  readonly isSecondFactorVerified: boolean;
  readonly client: AuthClientInfo;
  /** The one-time password of the request, unchecked; undefined where it brought none. */
  readonly otp: string | undefined;
}

/** A check between the verified credential and the session, such as a second factor. */
export interface SignInCheckStep {
  /** One of the names that the manifest declares. */
  readonly name: string;
  /**
   * Steps run by this number, smaller first. `auth` itself has `status` 100 and `address` 300, and the plugin `two-factor` has
   * `second-factor` 200.
   */
  readonly order: number;
  /**
   * The step verifies the second factor of every user who has one. A user with a second factor is refused with INVALID_OTP where no
   * step says so. The manifest section must declare `verifiesSecondFactor`, too.
   */
  readonly verifiesSecondFactor?: true;
  /** @throws the Failure that the client is answered in place of tokens: INVALID_OTP, INVALID_IP, USER_SUSPENDED and so on. */
  check(attempt: VerifiedSignIn): Promise<void> | void;
}

/** The section `auth.steps` of a manifest. */
export interface DeclaredSignInCheckSteps {
  readonly names?: readonly string[];
  readonly verifiesSecondFactor?: true;
}

/** Steps that said so when they were contributed: a step that changes its object later gains nothing. */
const secondFactorSteps = new WeakSet<SignInCheckStep>();

/** True, or the reason why a step does not match the manifest of its plugin. */
export function validateSignInCheckStep(step: SignInCheckStep, declared: DeclaredSignInCheckSteps): true | string {
  const { name, verifiesSecondFactor } = step;
  if (!declared.names?.includes(name)) return `the step ${name} is not declared`;
  if (verifiesSecondFactor && !declared.verifiesSecondFactor)
    return `${name} does not declare that it verifies second factors`;
  if (verifiesSecondFactor) secondFactorSteps.add(step);
  return true;
}

/** Whether a contributed step verifies second factors. */
export const isSecondFactorStep = (step: SignInCheckStep): boolean => secondFactorSteps.has(step);
