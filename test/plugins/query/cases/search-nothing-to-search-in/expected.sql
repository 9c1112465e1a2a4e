select coalesce('[' || string_agg('{}'::json::text, ',') || ']', '[]') as data from (select 1 as "?" from "public"."thing" t1 where (false) order by t1."id" limit 100) r
-- []
