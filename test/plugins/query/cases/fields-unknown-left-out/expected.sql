select (select coalesce('[' || string_agg(row_to_json(r)::text, ',') || ']', '[]') from (select t2."title" as "title", t3.j as "author" from (select t1.*, t1."id" as "~0" from "public"."book" t1 order by t1."id" limit 100) t2 left join lateral (select '{}'::json as j from (select 1 as "?" from "public"."person" t5 where (t5."id" = t2."author")) t4) t3 on true order by t2."~0") r) as data
-- []
