import { fail } from '#kernel';
import type { AccessControl } from '../access/contract.ts';
import type { SignInCheckStep } from './contract.ts';
import { assertAddressAllowedForRole } from './role-ip-access.ts';

/** The steps between credential and session that `auth` itself contributes. */
export const createCoreSignInSteps = (access: Pick<AccessControl, 'role'>): readonly SignInCheckStep[] => [
  {
    name: 'status',
    order: 100,
    check({ user }) {
      if (user.status !== 'active') throw fail('USER_SUSPENDED', `the user is ${user.status}`);
    },
  },
  {
    name: 'second-factor',
    order: 200,
    check({ user, isSecondFactorVerified }) {
      // No plugin checks a second factor yet, and a user who has one must not sign in without it.
      if (user.hasSecondFactor && !isSecondFactorVerified)
        throw fail('INVALID_OTP', 'two-factor sign-in is not available');
    },
  },
  {
    name: 'address',
    order: 300,
    check: ({ user, client }) => assertAddressAllowedForRole(access, user.role, client.ip),
  },
];
