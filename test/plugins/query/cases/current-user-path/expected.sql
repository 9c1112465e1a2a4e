select coalesce('[' || string_agg(row_to_json(r.*)::text, ',') || ']', '[]') as data from (select t1."id" as "id" from "public"."article" t1 where (t1."team" = (select t3."id" from "public"."platform_users" t2 join "public"."team" t3 on (t3."id" = t2."team") where (t2."id" = $1::uuid))::int8) order by t1."id" limit 100) r
-- [{"runtimeValue":{"dynamic":"user"}}]
