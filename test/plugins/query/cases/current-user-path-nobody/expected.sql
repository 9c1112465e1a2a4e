select coalesce('[' || string_agg(row_to_json(r.*)::text, ',') || ']', '[]') as data from (select t1."id" as "id" from "public"."article" t1 where (t1."team" <> all(array[(select t2."team" from "public"."platform_users" t2 where (t2."id" = $1::uuid))::int8])) order by t1."id" limit 100) r
-- [{"runtimeValue":{"dynamic":"user"}}]
