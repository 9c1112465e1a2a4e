select coalesce('[' || string_agg(row_to_json(r.*)::text, ',') || ']', '[]') as data from (select t1."id" as "id" from "public"."platform_users" t1 where (t1."role" = $1::uuid) order by t1."id" limit 100) r
-- [{"runtimeValue":{"dynamic":"role"}}]
