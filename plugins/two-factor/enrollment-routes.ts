import type { SignInAttempts } from '../auth/contract.ts';
import type { HttpContext, Route } from '../http/contract.ts';
import { clientInfoOf, sendData } from '../http/library.ts';
import { requireEnrollableEmail, type SecondFactorEnrollment } from './enrollment.ts';
import type { OwnAccount } from './own-account.ts';
import { assertPassword, textMember } from './request-members.ts';
import { ENABLE_ROUTE_DESCRIPTION, GENERATE_ROUTE_DESCRIPTION } from './route-descriptions.ts';

export interface EnrollmentRouteDeps {
  readonly readOwnAccount: (ctx: HttpContext) => Promise<OwnAccount>;
  readonly enrollment: SecondFactorEnrollment;
  readonly attempts: Pick<SignInAttempts, 'checkPassword'>;
}

/** `POST /users/me/tfa/generate` and `enable`. */
export function enrollmentRoutes({ readOwnAccount, enrollment, attempts }: EnrollmentRouteDeps): readonly Route[] {
  async function generate(ctx: HttpContext): Promise<void> {
    const account = await readOwnAccount(ctx);
    requireEnrollableEmail(account);
    await assertPassword(ctx, account, attempts);
    const offered = await enrollment.offer(account);
    ctx.set('Cache-Control', 'no-store');
    sendData(ctx, offered);
  }

  async function enable(ctx: HttpContext): Promise<void> {
    const account = await readOwnAccount(ctx);
    const [secret, otp] = [textMember(ctx, 'secret'), textMember(ctx, 'otp')];
    await enrollment.enroll(ctx.state.caller, account, { secret, otp, client: clientInfoOf(ctx) });
    sendData(ctx, undefined);
  }

  return [
    { method: 'POST', path: '/users/me/tfa/generate', description: GENERATE_ROUTE_DESCRIPTION, handle: generate },
    { method: 'POST', path: '/users/me/tfa/enable', description: ENABLE_ROUTE_DESCRIPTION, handle: enable },
  ];
}
