build/obj/jni/shared_receive_queue.o: jni/shared_receive_queue.c \
 jni/posting.h jni/jni_util.h \
 /usr/lib/jvm/java-17-openjdk-amd64/include/jni.h \
 /usr/lib/jvm/java-17-openjdk-amd64/include/linux/jni_md.h verbs_api.h
jni/posting.h:
jni/jni_util.h:
/usr/lib/jvm/java-17-openjdk-amd64/include/jni.h:
/usr/lib/jvm/java-17-openjdk-amd64/include/linux/jni_md.h:
verbs_api.h:
