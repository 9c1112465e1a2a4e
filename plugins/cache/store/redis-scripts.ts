/**
 * Scripts of the shared store. Redis runs each one at once, so nothing changes between a check and what follows it.
 *
 * The state is one hash: `epoch`, which a clear replaces; `clock`, the number of changes; and `t:<oid>`, the clock at the last change
 * of a table. Where Redis has evicted it there is no epoch, and every stored answer is void. An answer is a hash too: its epoch `e`,
 * the clock `p` before its read, its tables `r`, its headers `h` and its body `b`.
 */

const IS_UNCHANGED = `local function unchanged(position, relations)
  for oid in string.gmatch(relations, '%d+') do
    local changed = redis.call('HGET', KEYS[1], 't:' .. oid)
    if changed and tonumber(changed) > tonumber(position) then return false end
  end
  return true
end`;

/** Keys: state, answers. Answers epoch and clock, and headers and body of the first answer that is still true. */
export const FIND_SCRIPT = `${IS_UNCHANGED}
local state = redis.call('HMGET', KEYS[1], 'epoch', 'clock')
if not state[1] then return {} end
for i = 2, #KEYS do
  local answer = redis.call('HMGET', KEYS[i], 'e', 'p', 'r')
  if answer[1] == state[1] and unchanged(answer[2], answer[3]) then
    local content = redis.call('HMGET', KEYS[i], 'h', 'b')
    return {state[1], state[2], content[1], content[2]}
  end
end
return {state[1], state[2]}`;

/** Keys: state, answer. Values: epoch, clock, relations, headers, body, milliseconds. Stores nothing that has changed meanwhile. */
export const PUT_SCRIPT = `${IS_UNCHANGED}
if redis.call('HGET', KEYS[1], 'epoch') ~= ARGV[1] or not unchanged(ARGV[2], ARGV[3]) then return 0 end
redis.call('HSET', KEYS[2], 'e', ARGV[1], 'p', ARGV[2], 'r', ARGV[3], 'h', ARGV[4], 'b', ARGV[5])
return redis.call('PEXPIRE', KEYS[2], ARGV[6])`;

/** Keys: state. Values: the oid of a table that has changed. */
export const CHANGE_SCRIPT = `return redis.call('HSET', KEYS[1], 't:' .. ARGV[1], redis.call('HINCRBY', KEYS[1], 'clock', 1))`;

/** Keys: state. Values: an epoch that was never used. */
export const CLEAR_SCRIPT = `redis.call('DEL', KEYS[1])
return redis.call('HSET', KEYS[1], 'epoch', ARGV[1], 'clock', 0)`;
